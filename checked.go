package dewpond

import (
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/memory"
)

// checks are what a BytePool or a Pool in checked mode has besides: nil with CheckOff.
//
// With CheckAll every block is watched from its first Get on, and stays so while it is
// idle: poisoned, in quarantine and then in the engine, until it is handed out again or
// let go, which is when poison that has changed is found.
//
// Blocks of a Ledger that is a memory.Guard have more than poison: any touch of them
// faults while they are idle, and ExplainFaults says whose they were.
//
// With CheckSampled one Get in so many has its block watched, and only until the block
// leaves quarantine: the engine has none that is watched, so that a Get of what comes
// from there need not look.
type checks struct {
	*check.Checker
	*reports
	all    bool
	others uint64        // a Get whose number has none of these bits set is watched
	heap   bool          // the collector has the blocks
	leak   time.Duration // for how long a block may be out; 0: for ever

	quarantine check.Quarantine
	held       []atomic.Int64 // blocks in quarantine, by class
	looked     func()         // of tests: what happens when Stats has looked at held
}

// quarantineBytes is the most that a pool has in quarantine: a part of MaxIdleBytes.
const quarantineBytes = 1 << 20

// quarantined returns the bytes that the engine may not keep, so that both together
// stay within MaxIdleBytes.
func (c *checks) quarantined() int64 {
	if c == nil {
		return 0
	}
	return int64(c.quarantine.Bytes)
}

// blockChecks returns nil where nothing is to be checked. The options are sound.
func blockChecks(o BytePoolOptions) *checks {
	c := newChecks(o.Check, o.OnViolation, len(o.Classes))
	if c == nil {
		if o.LeakAfter > 0 && o.Check == CheckOff {
			uselessLeakAfter.Do(func() {
				slog.Warn("dewpond: the option LeakAfter does nothing without Check", "pool", o.Name)
			})
		}
		return nil
	}
	c.heap, c.leak = o.Memory == nil, o.LeakAfter
	if g, ok := o.Memory.(memory.Guard); ok && c.all && g.Isolate() {
		c.Guard = g
	}
	// What is in quarantine nobody finds who is refused or waits.
	if o.AllocLimit == 0 && o.Budget == nil && o.MaxIdlePerClass == 0 {
		c.quarantine.Bytes = int(min(quarantineBytes, o.MaxIdleBytes/4))
	}
	return c
}

// uselessLeakAfter is for the first pool that has the option LeakAfter and no checks.
var uselessLeakAfter = new(sync.Once)

// newChecks returns checks without a quarantine for a pool of so many classes on the Go
// heap, or nil. The mode is sound.
func newChecks(mode CheckMode, on func(Violation), classes int) *checks {
	mode, every := mode.effective()
	if mode == CheckOff {
		return nil
	}
	c := &checks{
		reports: &reports{on: on},
		all:     mode == CheckAll,
		others:  uint64(every) - 1,
		heap:    true,
		held:    make([]atomic.Int64, classes),
	}
	if c.all {
		c.others = 0
	}
	c.Checker = check.New(!c.all, c.reports.report)
	return c
}

// everything reports whether every block is watched. The engine then has them all in its
// depots: a shard's slots go on pointing to a block that they gave out, which would keep
// it alive, so that nobody is told when its owner loses it.
func (c *checks) everything() bool { return c != nil && c.all }

// steps are what Get and Put have to do for the checks.
func (c *checks) steps() step {
	switch {
	case c == nil:
		return keepAsIs
	case c.all:
		return watchAll
	}
	return watchSome
}

// watch notes that a caller gets a block, if this is one that is watched. It comes
// before the block is cleared.
func (p *BytePool) watch(b []byte) {
	if c := p.checks; c != nil && rand.Uint64()&c.others == 0 {
		p.watchThis(b)
	}
}

// watchThis notes that a caller gets a block that is watched.
func (p *BytePool) watchThis(b []byte) {
	c := p.checks
	panics := true
	defer func() {
		if panics { // the report, so that no caller gets the block
			p.note(b)
			p.Put(b)
		}
	}()
	c.Get(addressOf(b), b, c.heap)
	panics = false
	if c.leak > 0 {
		p.decay.Loosened() // so that a tick looks how long it is out
	}
}

// reportOld reports what has been out for too long.
func (p *BytePool) reportOld() {
	if c := p.checks; c.leak > 0 {
		var l late.List
		defer l.End()
		if _, left := c.leaks(c.leak, time.Now(), &l); left > 0 {
			p.decay.Loosened()
		}
	}
}

// putChecked asks the checks about a slice whose cap is a class. It reports whether Put
// goes on, and whether the block is watched.
func (p *BytePool) putChecked(b []byte) (goOn, watched bool) {
	c := p.checks
	switch c.Put(addressOf(b), cap(b)) {
	case check.Accepted:
		return true, true
	case check.Refused:
		p.count.droppedDouble.Add(1)
		return false, false
	}
	if !c.all {
		return true, false
	}
	if p.fallback.Remove(dataOf(b), addressOf(b)) {
		p.count.droppedFallback.Add(1)
		return false, false
	}
	p.count.droppedForeign.Add(1)
	c.Stranger(addressOf(b), cap(b))
	return false, false
}

// putWatched is the rest of Put for a whole block that is watched.
func (p *BytePool) putWatched(class uint8, b []byte) {
	c := p.checks
	c.Bury(addressOf(b), b)
	c.held[class].Add(1)
	if !c.quarantine.Add(b) {
		defer c.held[class].Add(-1) // after all else, see Stats; also if the Source panics
		var l late.List
		defer l.End()
		p.endWatch(b, &l)
		p.gate.Put(class, blockOf(b))
		return
	}
	p.count.class[class].puts.Add(1)
	p.decay.Loosened() // a tick ends the quarantine of what is in it now
	for b := c.quarantine.Leave(); b != nil; b = c.quarantine.Leave() {
		class, _ := p.classes.Exact(cap(b))
		p.endQuarantine(class, b)
	}
}

// endQuarantine gives a block to the engine at last. Its Put has been counted.
func (p *BytePool) endQuarantine(class uint8, b []byte) {
	defer p.checks.held[class].Add(-1) // as in putWatched
	var l late.List
	defer l.End()
	p.endWatch(b, &l)
	p.gate.Requeue(class, blockOf(b))
}

// endWatch makes a block such as the engine has them.
func (p *BytePool) endWatch(b []byte, l *late.List) {
	if !p.checks.all {
		p.unwatch(b, l)
		if p.zero == ZeroOnPut {
			clear(b)
		}
	}
}

// endQuarantines gives all that is in quarantine to the engine, one by one: what is
// on its way from the one to the other, Trim misses.
func (p *BytePool) endQuarantines() {
	for range p.checks.quarantine.Len() {
		b := p.checks.quarantine.Next()
		if b == nil {
			return
		}
		class, _ := p.classes.Exact(cap(b))
		p.endQuarantine(class, b)
	}
}

// trimQuarantine lets go of all that is in quarantine, which takes nothing any more if
// end, and returns its bytes.
func (p *BytePool) trimQuarantine(end bool, l *late.List) (released int64) {
	if p.checks == nil {
		return 0
	}
	for _, b := range p.checks.quarantine.Empty(end) {
		class, _ := p.classes.Exact(cap(b))
		p.count.class[class].trimmed.Add(1)
		p.checks.held[class].Add(-1)
		p.gate.Drop(class, blockOf(b), l)
		released += int64(len(b))
	}
	return released
}

// inQuarantine returns how many blocks of each class are in quarantine. A block that
// leaves it meanwhile is counted here and where it goes, or only there: so who looks
// here first misses none.
func (c *checks) inQuarantine() (held []int) {
	if c == nil {
		return nil
	}
	for i := range c.held {
		held = append(held, int(c.held[i].Load()))
	}
	if c.looked != nil {
		c.looked()
	}
	return held
}

// unwatch checks an idle block for the last time, if it is watched.
func (p *BytePool) unwatch(b []byte, l *late.List) {
	if p.checks != nil {
		p.checks.later(l, p.checks.Forget(addressOf(b), b))
	}
}
