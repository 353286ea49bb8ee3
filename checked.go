package dewpond

import (
	"fmt"
	"log/slog"
	"math/bits"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
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
// leaves quarantine.
type checks struct {
	*check.Watch
	*reports
	others uint64        // a Get whose number has none of these bits set is watched
	heap   bool          // the collector has the blocks
	leak   time.Duration // for how long a block may be out; 0: for ever
	looked func()        // of tests: what happens when Stats has looked at what is held
}

// quarantineBytes is the most that a pool has in quarantine: a part of MaxIdleBytes.
const quarantineBytes = 1 << 20

// quarantined returns the bytes that the engine may not keep, so that both together
// stay within MaxIdleBytes.
func (c *checks) quarantined() int64 {
	if c == nil {
		return 0
	}
	return int64(c.Quarantine.Bytes)
}

// blockChecks returns nil where nothing is to be checked. The options are sound.
func blockChecks(o BytePoolOptions) *checks {
	c := newChecks(o.Check, o.OnViolation, len(o.Classes), false)
	if c == nil {
		if o.LeakAfter > 0 && o.Check == CheckOff {
			uselessLeakAfter.Do(func() {
				slog.Warn("dewpond: the option LeakAfter does nothing without Check", "pool", o.Name)
			})
		}
		return nil
	}
	c.heap, c.leak = o.Memory == nil, o.LeakAfter
	if g, ok := o.Memory.(memory.Guard); ok && c.All() && g.Isolate() {
		c.Guard = g
	}
	// What is in quarantine nobody finds who is refused or waits.
	if o.AllocLimit == 0 && o.Budget == nil && o.MaxIdlePerClass == 0 {
		c.Quarantine.Bytes = int(min(quarantineBytes, o.MaxIdleBytes/4))
	}
	return c
}

// uselessLeakAfter is for the first pool that has the option LeakAfter and no checks.
var uselessLeakAfter = new(sync.Once)

// newChecks returns checks without a quarantine for a pool of so many classes on the Go
// heap, or nil. Objects are sealed. The mode is sound.
func newChecks(mode CheckMode, on func(Violation), classes int, objects bool) *checks {
	mode, every := mode.effective()
	if mode == CheckOff {
		return nil
	}
	r := &reports{on: on}
	c := &checks{
		Watch:   check.NewWatch(mode == CheckAll, objects, classes, r.report),
		reports: r,
		others:  uint64(every) - 1,
		heap:    true,
	}
	if c.All() {
		c.others = 0
	}
	return c
}

// everything reports whether every block is watched. The engine then has them all in its
// depots: a shard's slots go on pointing to a block that they gave out, which would keep
// it alive, so that nobody is told when its owner loses it.
func (c *checks) everything() bool { return c != nil && c.All() }

// steps are what Get and Put have to do for the checks.
func (c *checks) steps() step {
	switch {
	case c == nil:
		return keepAsIs
	case c.All():
		return watchAll
	}
	return watchSome
}

// chosen reports whether what a caller gets now is watched.
func (c *checks) chosen() bool { return c != nil && rand.Uint64()&c.others == 0 }

// watch notes that a caller gets a block, if this is one that is watched. It comes
// before the block is cleared.
func (p *BytePool) watch(b []byte) {
	if p.checks.chosen() {
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
		if _, left := c.Leaks(c.leak, time.Now(), &l); left > 0 {
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
	if !c.All() {
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
func (p *BytePool) putWatched(class uint8, b []byte) { p.checks.Retire(watched(class, b)) }

// watched is a block as the checks have it.
func watched(class uint8, b []byte) check.Block {
	return check.Block{At: addressOf(b), Class: class, Bytes: b}
}

// A blockKeeper is a BytePool as its checks see it.
type blockKeeper BytePool

func (k *blockKeeper) Count(class uint8, did check.Deed) {
	switch did {
	case check.Quarantined:
		k.count.class[class].puts.Add(1)
		k.decay.Loosened() // a tick ends the quarantine of what is in it now
	case check.Trimmed:
		k.count.class[class].trimmed.Add(1)
	}
}

func (k *blockKeeper) Keep(block check.Block, counted bool) {
	p, class, b := (*BytePool)(k), block.Class, block.Bytes
	if !p.checks.All() && p.zero == ZeroOnPut {
		clear(b) // of poison
	}
	if counted {
		p.gate.Requeue(class, blockOf(b))
	} else {
		p.gate.Put(class, blockOf(b))
	}
}

func (k *blockKeeper) Free(b check.Block, l *late.List) { k.gate.Drop(b.Class, blockOf(b.Bytes), l) }

// trimQuarantine is check.Watch.Empty. It returns the bytes that were let go.
func (c *checks) trimQuarantine(end bool, l *late.List) (released int64) {
	if c != nil {
		_, released = c.Empty(end, l)
	}
	return released
}

// inQuarantine returns how many blocks of each class are in quarantine. Stats looks here
// first, see check.Watch.Held.
func (c *checks) inQuarantine(classes int) (held []int) {
	if c == nil {
		return nil
	}
	for class := range classes {
		held = append(held, c.Held(uint8(class)))
	}
	if c.looked != nil {
		c.looked()
	}
	return held
}

// unwatch checks an idle block for the last time, if it is watched.
func (c *checks) unwatch(b check.Block, l *late.List) {
	if c != nil {
		c.Unwatch(b, l)
	}
}

// A CheckMode says how closely a pool watches what its callers do with what they get.
// The environment variable DEWPOND_CHECK (off, sampled, sampled=1/N or all; N is rounded
// up to a power of two) overrides every pool's. Any other value counts as off, so that a
// mistyped one slows no program down, and the log has an error, once, when the program
// starts.
type CheckMode uint8

const (
	// CheckOff finds what costs nothing to find: see docs/ownership.md.
	CheckOff CheckMode = iota
	// CheckSampled is CheckAll for one in 1024 of what is handed out, and for
	// nothing else: for production. What it finds, it finds soon where it happens
	// often: of a leak, 710 are needed for an even chance to see one, and 4714 for
	// 99 in 100.
	CheckSampled
	// CheckAll watches everything, at a cost of microseconds for each Get: for tests.
	// Whatever is misused is reported with the stacks of the Get, of the Put and of
	// the offence. Off the heap idle blocks fault on any touch: see ExplainFaults.
	CheckAll
)

// sampleEvery is what CheckSampled means where DEWPOND_CHECK gives no number.
const sampleEvery = 1024

// checkEnvironment is the variable that overrides the option Check.
const checkEnvironment = "DEWPOND_CHECK"

// valid returns an error where the option Check is no mode.
func (m CheckMode) valid() error {
	if m > CheckAll {
		return fmt.Errorf("option Check %d: give CheckOff, CheckSampled or CheckAll", m)
	}
	return nil
}

// effective returns the mode that holds, and of how many one is watched: a power of
// two.
func (m CheckMode) effective() (mode CheckMode, every uint) {
	text := os.Getenv(checkEnvironment)
	if text == "" {
		return m, sampleEvery
	}
	mode, every, ok := parseMode(text)
	if !ok {
		unknownMode.Do(func() {
			slog.Error("dewpond: the environment's "+checkEnvironment+" is none of off, sampled, sampled=1/N and all: it counts as off", "value", text)
		})
	}
	return mode, every
}

// unknownMode is for the first value of the environment that is no mode.
var unknownMode = new(sync.Once)

func init() { CheckOff.effective() } // so that the log has it when the program starts

// parseMode is what the environment's text says, or CheckOff.
func parseMode(text string) (mode CheckMode, every uint, ok bool) {
	switch text {
	case "off":
		return CheckOff, sampleEvery, true
	case "all":
		return CheckAll, 1, true
	case "sampled":
		return CheckSampled, sampleEvery, true
	}
	if number, sampled := strings.CutPrefix(text, "sampled=1/"); sampled {
		if n, err := strconv.ParseUint(number, 10, 30); err == nil && n > 0 {
			return CheckSampled, 1 << bits.Len(uint(n-1)), true
		}
	}
	return CheckOff, sampleEvery, false
}
