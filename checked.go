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
	// Calls that are refused or wait do not find blocks in quarantine.
	if o.AllocLimit == 0 && o.Budget == nil && o.MaxIdlePerClass == 0 {
		c.Quarantine.Bytes = int(min(quarantineBytes, o.MaxIdleBytes/4))
	}
	return c
}

// uselessLeakAfter logs once that a pool has the option LeakAfter but no checks.
var uselessLeakAfter = new(sync.Once)

// newChecks returns checks without a quarantine for a pool on the Go heap, or nil if the
// effective mode is CheckOff. Objects are sealed, blocks poisoned. The mode is valid.
func newChecks(mode CheckMode, on func(Violation), classes int, objects bool) *checks {
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

// everything reports whether every block is watched. If so, the engine keeps all idle
// blocks in its depots: a shard's slots go on pointing to a block that they gave out,
// which would keep it alive, so that its leak would not be found.
func (c *checks) everything() bool { return c != nil && c.All() }

// modes returns what Get and Put have to do for the checks.
func (c *checks) modes() mode {
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

// watch starts to watch a block that a caller gets, if it is chosen. It must be called
// before the block is cleared, because it looks at the poison.
func (p *BytePool) watch(b []byte) {
	if p.checks.chosen() {
		p.watchThis(b)
	}
}

// watchThis starts to watch a block that a caller gets.
func (p *BytePool) watchThis(b []byte) {
	c := p.checks
	panics := true
	defer func() {
		if panics { // in a report: no caller gets the block
			p.note(b)
			p.Put(b)
		}
	}()
	c.Get(addressOf(b), b, c.heap)
	panics = false
	if c.leak > 0 {
		p.decay.Loosened() // so that a tick looks how long the block has been out
	}
}

// reportOld reports the blocks that have been out for longer than LeakAfter.
func (p *BytePool) reportOld() {
	if c := p.checks; c.leak > 0 {
		var l late.List
		defer l.End()
		if _, left := c.Leaks(c.leak, time.Now(), &l); left > 0 {
			p.decay.Loosened()
		}
	}
}

// putChecked asks the checks about a slice whose cap is the size of a class. It reports
// whether Put goes on, and whether the block is watched.
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

// putWatched is the end of Put for a watched block.
func (p *BytePool) putWatched(class uint8, b []byte) { p.checks.Retire(watched(class, b)) }

// watched returns a block in the form that the checks use.
func watched(class uint8, b []byte) check.Block {
	return check.Block{At: addressOf(b), Class: class, Bytes: b}
}

// A blockKeeper is a BytePool as check.Keeper, for its checks.
type blockKeeper BytePool

func (k *blockKeeper) Count(class uint8, did check.Deed) {
	switch did {
	case check.Quarantined:
		k.count.class[class].puts.Add(1)
		k.decay.Loosened() // so that a tick ends the block's quarantine
	case check.Trimmed:
		k.count.class[class].trimmed.Add(1)
	}
}

func (k *blockKeeper) Keep(block check.Block, counted bool) {
	p, class, b := (*BytePool)(k), block.Class, block.Bytes
	if !p.checks.All() && p.zero == ZeroOnPut {
		clear(b) // removes the poison
	}
	if counted {
		p.gate.Requeue(class, blockOf(b))
	} else {
		p.gate.Put(class, blockOf(b))
	}
}

func (k *blockKeeper) Free(b check.Block, l *late.List) { k.gate.Drop(b.Class, blockOf(b.Bytes), l) }

// trimQuarantine is check.Watch.Empty if there are checks. It returns the bytes that were
// let go.
func (c *checks) trimQuarantine(end bool, l *late.List) (released int64) {
	if c != nil {
		_, released = c.Empty(end, l)
	}
	return released
}

// inQuarantine returns how many blocks of each class are in quarantine. Stats calls it
// before it reads the engine's counts: see check.Watch.Held.
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

// unwatch checks a block that the pool lets go for the last time, if it is watched.
func (c *checks) unwatch(b check.Block, l *late.List) {
	if c != nil {
		c.Unwatch(b, l)
	}
}

// A CheckMode says how closely a pool watches what its callers do with its blocks or
// objects. The environment variable DEWPOND_CHECK overrides the mode of every pool. Its
// value is off, sampled, sampled=1/N or all, where N is rounded up to a power of two. Any
// other value counts as off, so that a mistyped value does not slow a program down, and
// is logged as an error once, when the program starts.
type CheckMode uint8

const (
	// CheckOff finds only the misuse that costs nothing to find. The ownership document
	// lists it: https://github.com/dewpond/dewpond/blob/main/docs/ownership.md.
	CheckOff CheckMode = iota
	// CheckSampled does what CheckAll does, but only for one in 1024 of the blocks or
	// objects that are handed out. It is meant for production. It soon finds misuse that
	// happens often: after 710 leaks the chance that it has seen one is 50 %, after 4714
	// leaks 99 %.
	CheckSampled
	// CheckAll watches everything, at a cost of microseconds for each Get. It is meant
	// for tests. Each misuse is reported with the stacks of the Get, of the Put and of
	// the misuse. Off the heap any read or write of an idle block faults: see
	// [ExplainFaults].
	CheckAll
)

// sampleEvery is the N of CheckSampled if DEWPOND_CHECK gives no number.
const sampleEvery = 1024

// checkEnvironment is the environment variable that overrides the option Check.
const checkEnvironment = "DEWPOND_CHECK"

// valid returns an error if the option Check is not a mode.
func (m CheckMode) valid() error {
	if m > CheckAll {
		return fmt.Errorf("option Check %d: give CheckOff, CheckSampled or CheckAll", m)
	}
	return nil
}

// effective returns the mode that is in force, and N if one in N is watched: a power of
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

// unknownMode logs once that the value in the environment is not a mode.
var unknownMode = new(sync.Once)

func init() { CheckOff.effective() } // logs an invalid value when the program starts

// parseMode returns the mode that the environment's text names, or CheckOff and false if
// it names none.
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
