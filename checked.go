package dewpond

import (
	"math/rand/v2"
	"sync"
	"time"

	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/memory"
	"github.com/dewpond/dewpond/misuse"
)

// checks is the part of a BytePool or a Pool that checked mode needs. It is nil with
// CheckOff.
//
// With CheckAll every block is watched from its first Get on. It stays watched while it
// is idle, in quarantine and then in the engine, and has poison in it. When it is handed
// out again or let go, the checks look whether the poison has changed.
//
// Idle blocks of a Ledger that is a memory.Guard are protected in addition: any read or
// write of them faults, and ExplainFaults says whose they were.
//
// With CheckSampled one Get in so many has its block watched, and only until the block
// leaves quarantine.
type checks struct {
	*check.Watch
	*reports
	sampleMask uint64        // one Get in sampleMask+1 has its block watched
	heap       bool          // the blocks are on the Go heap
	leak       time.Duration // LeakAfter; 0: no limit
	looked     func()        // for tests: called when Stats has read what is in quarantine
}

// quarantineBytes bounds a pool's quarantine, which is a part of its MaxIdleBytes.
const quarantineBytes = 1 << 20

// quarantined returns the size of the quarantine in bytes. The engine must keep as many
// fewer, so that both together stay within MaxIdleBytes.
func (c *checks) quarantined() int64 {
	if c == nil {
		return 0
	}
	return int64(c.Quarantine.Bytes)
}

// blockChecks returns the checks of a BytePool, or nil if nothing is to be checked. The
// options are valid.
func blockChecks(o BytePoolOptions, e *elements) *checks {
	c := newChecks(o.Check, o.OnViolation, len(o.Classes), e.areSealed())
	if c == nil {
		if o.LeakAfter > 0 && o.Check == CheckOff {
			uselessLeakAfter.Do(func() {
				check.Note("the option LeakAfter does nothing without Check", "pool", o.Name)
			})
		}
		return nil
	}
	c.Layout = e.watched()
	c.heap, c.leak = o.Memory == nil, o.LeakAfter
	if c.heap {
		c.advice = "To see the write itself, have the pool off the heap, where it faults: dewtest.NewOffHeapBytePool."
	}
	if g, ok := o.Memory.(memory.Guard); ok && c.All() && g.Isolate() {
		c.Guard = g
	}
	// Calls that are refused or wait do not find blocks in quarantine.
	if idle, _ := o.idle(); o.AllocRate == 0 && o.Budget == nil && o.MaxIdlePerClass <= 0 {
		c.Quarantine.Bytes = int(min(quarantineBytes, idle/4))
	}
	return c
}

// uselessLeakAfter logs once that a pool has the option LeakAfter but no checks.
var uselessLeakAfter = new(sync.Once)

// newChecks returns checks without a quarantine for a pool on the Go heap, or nil if the
// effective mode is CheckOff. Objects are sealed, blocks poisoned. The mode is valid.
func newChecks(mode CheckMode, on func(misuse.Violation), classes int, objects bool) *checks {
	mode, every := mode.effective()
	if mode == CheckOff {
		return nil
	}
	r := &reports{on: on}
	c := &checks{
		Watch:      check.NewWatch(mode == CheckAll, objects, classes, r.report),
		reports:    r,
		sampleMask: uint64(every) - 1,
		heap:       true,
	}
	if c.All() {
		c.sampleMask = 0
	}
	return c
}

// errands returns what decay calls of a pool, so that [check.Await] waits for it. Each takes blocks
// out of the pool in which it may find misuse. settle may be nil.
func (c *checks) errands(trim func() bool, settle func(), shed func(class uint8, n int)) (func() bool, func(), func(class uint8, n int)) {
	if c == nil {
		return trim, settle, shed
	}
	return func() (all bool) { c.Errand(func() { all = trim() }); return all },
		func() { c.Errand(settle) },
		func(class uint8, n int) { c.Errand(func() { shed(class, n) }) }
}

// everything reports whether every block is watched. If so, the engine keeps all idle
// blocks in its depots: a shard's slots go on pointing to a block that they gave out,
// which would keep it alive, so that its leak would not be found.
func (c *checks) everything() bool { return c != nil && c.All() }

// work returns what Get and Put have to do for the checks.
func (c *checks) work() blockWork {
	switch {
	case c == nil:
		return keepAsIs
	case c.All():
		return watchAll
	}
	return watchSome
}

// chosen reports whether the block or object that a caller gets now is to be watched.
func (c *checks) chosen() bool { return c != nil && rand.Uint64()&c.sampleMask == 0 }

// reportStranger reports a Put of a slice that is not a block of the pool, and names the pool that
// watches it.
func (c *checks) reportStranger(at uintptr, size int) {
	v := c.Stranger(at, size)
	if v.Kind == misuse.ForeignPut {
	search:
		for _, p := range livePools.Live() {
			for _, other := range p.ownChecks() {
				if other == nil {
					continue
				}
				if block := other.Around(at); block != nil {
					v.Holder, v.Got, v.Put, v.Age = p.Name(), block.Got, block.Put, block.Age
					break search
				}
			}
		}
	}
	c.report(v)
}

// checkedBlock returns a block in the form that the checks use.
func checkedBlock(class uint8, b []byte) check.Block {
	return check.Block{At: addressOf(b), Class: class, Bytes: b}
}

// trimQuarantine is check.Watch.Empty if there are checks. It returns the bytes that were
// let go.
func (c *checks) trimQuarantine(end bool, l *late.List) (released int64) {
	if c != nil {
		_, released = c.Empty(end, l)
	}
	return released
}

// quarantineCounts returns how many blocks of each class are in quarantine. Stats calls it
// before it reads the engine's counts: see check.Watch.InQuarantine.
func (c *checks) quarantineCounts(classes int) (counts []int) {
	if c == nil {
		return nil
	}
	for class := range classes {
		counts = append(counts, c.InQuarantine(uint8(class)))
	}
	if c.looked != nil {
		c.looked()
	}
	return counts
}

// lastLook checks a block that the pool lets go for the last time, if it is watched.
func (c *checks) lastLook(b check.Block, l *late.List) {
	if c != nil {
		c.Unwatch(b, l)
	}
}

func (c *checks) reportLeaks() int {
	if c == nil {
		return 0
	}
	var l late.List
	defer l.End()
	leaks, _ := c.Leaks(0, time.Time{}, &l)
	return leaks
}
