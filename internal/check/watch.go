package check

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/misuse"
)

// A Keeper is the pool whose blocks a Watch watches.
type Keeper interface {
	// Count is called for what the Watch does with a block that comes from a caller.
	Count(class uint8, did Deed)
	// Keep takes a block that leaves the Watch's hands, for the pool's next Get. counted
	// says that its Put is over: Count was called with Quarantined.
	Keep(block Block, counted bool)
	// Free lets a block go. What it must report later goes to the list.
	Free(block Block, l *late.List)
}

// A Deed is what a Watch does with a block.
type Deed uint8

const (
	Quarantined Deed = iota // it is in quarantine: its Put is over, and Flush is wanted in time
	Trimmed                 // Empty takes it out of quarantine, to let it go
)

// A Watch is a Checker with a quarantine: an idle block waits there, for whoever still
// writes to it, before the pool has it.
//
// Where All blocks are watched they stay so in the pool, until they are handed out again
// or let go, which is when what has been written is found. Otherwise that is when they
// leave quarantine: the pool has none that is watched, and a Get of what comes from there
// looks only whether it is marked.
type Watch struct {
	*Checker
	Quarantine Quarantine
	Keeper     Keeper // set it before the first Retire

	all    bool
	sealed bool           // blocks are sealed, since they cannot be poisoned
	counts []atomic.Int64 // blocks in quarantine or on their way to the Keeper, by class
}

// NewWatch returns a Watch of so many classes, with a quarantine that takes nothing until
// its Bytes are set. Blocks are poisoned while they are idle, or sealed if that is what their
// next owner cannot have. report is called for each violation, without locks held.
func NewWatch(all, sealed bool, classes int, report func(misuse.Violation)) *Watch {
	return &Watch{
		Checker: New(!all, report),
		all:     all,
		sealed:  sealed,
		counts:  make([]atomic.Int64, classes),
	}
}

// All reports whether every block is watched.
func (w *Watch) All() bool { return w.all }

// InQuarantine returns how many blocks of a class are in quarantine. One that leaves it
// meanwhile is counted here and where it goes, or only there: read it before the Keeper's own
// counts, and no block is missed.
func (w *Watch) InQuarantine(class uint8) int { return int(w.counts[class].Load()) }

// Retire has a block that came back wait, and the Keeper keep those that have waited for
// long enough. Its caller alone has the block, which Put or Adopt has accepted.
func (w *Watch) Retire(b Block) {
	if w.sealed {
		w.Seal(b.At, b.Bytes)
	} else {
		w.Poison(b.At, b.Bytes)
	}
	w.counts[b.Class].Add(1)
	if w.passes() || !w.Quarantine.Add(b) {
		w.leave(b, false)
		return
	}
	w.Keeper.Count(b.Class, Quarantined)
	for b, ok := w.Quarantine.Leave(); ok; b, ok = w.Quarantine.Leave() {
		w.leave(b, true)
	}
}

// oneInPasses: where few blocks are watched, one in so many passes a quarantine that others must leave
// for it. The others stay a little longer.
const oneInPasses = 8

// passes reports whether a block is to go to the Keeper at once, as any other that is put back, so that
// it is seen how long it is idle there: what leaves quarantine comes to where the pool has what others leave last.
func (w *Watch) passes() bool {
	return !w.all && w.Quarantine.Crowded() && rand.IntN(oneInPasses) == 0
}

// leave gives a block to the Keeper at last.
func (w *Watch) leave(b Block, counted bool) {
	defer w.counts[b.Class].Add(-1) // after all else, see InQuarantine; also if Keep panics
	var l late.List
	defer l.End()
	if !w.all {
		w.Unwatch(b, &l)
		if !counted {
			w.mark(b.At)
		}
	}
	if !counted {
		w.marks.give(b.At, true)
		defer w.marks.give(b.At, false)
	}
	w.Keeper.Keep(b, counted)
}

// Flush gives all that is in quarantine to the Keeper, one by one: what is on its way from
// the one to the other, Empty misses.
func (w *Watch) Flush() {
	for range w.Quarantine.Len() {
		b, ok := w.Quarantine.Next()
		if !ok {
			return
		}
		w.leave(b, true)
	}
}

// Empty lets go of all that is in quarantine, which takes nothing any more if end, and
// returns how much that was.
func (w *Watch) Empty(end bool, l *late.List) (blocks int, bytes int64) {
	all := w.Quarantine.Empty(end)
	for _, b := range all { // before Free, which may panic
		bytes += int64(len(b.Bytes))
		w.Keeper.Count(b.Class, Trimmed)
		w.counts[b.Class].Add(-1)
	}
	blocks = len(all)
	late.Finish(func() (more bool) {
		if len(all) == 0 {
			return false
		}
		b := all[0]
		all = all[1:]
		w.Keeper.Free(b, l)
		return true
	})
	return blocks, bytes
}

// Unwatch looks at an idle block for the last time, if it is watched, because it leaves the
// pool or joins those that are not. A violation goes to the list.
func (w *Watch) Unwatch(b Block, l *late.List) { w.later(w.Forget(b.At, b.Bytes), l) }

// Leaks has leaks reported when the list ends, and returns how many: see Out.
func (w *Watch) Leaks(age time.Duration, now time.Time, l *late.List) (n, left int) {
	leaks, n, left := w.Out(age, now)
	for i := range leaks {
		w.later(&leaks[i], l)
	}
	return n, left
}

// later has a violation, if there is one, reported when the list ends.
func (w *Watch) later(found *misuse.Violation, l *late.List) {
	if found != nil {
		violation := *found
		l.Add(func() { w.report(violation) })
	}
}
