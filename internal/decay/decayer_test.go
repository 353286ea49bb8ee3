package decay

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// A fakeIdle is an Idle of one class that counts its calls. Its idle blocks are not used.
type fakeIdle struct {
	mu     sync.Mutex
	idle   int  // blocks, of one byte
	spread int  // more blocks, which a processor has for itself
	used   int  // of idle, at some moment since the last tick
	inUse  bool // so trim leaves it
	trims  int
	looks  int // of DropSpares, which each tick calls

	trimming func() // called by trim, if it is not nil
}

func (f *fakeIdle) Low(uint8) int   { f.mu.Lock(); defer f.mu.Unlock(); return max(0, f.idle-f.used) }
func (f *fakeIdle) Least(uint8) int { f.mu.Lock(); defer f.mu.Unlock(); return f.idle }
func (f *fakeIdle) Reserved() int64 { return int64(f.Least(0)) }
func (f *fakeIdle) Peak() int64     { return 0 }
func (f *fakeIdle) Follow(int64)    {}
func (f *fakeIdle) Beyond() int64   { return 0 }
func (f *fakeIdle) DropSpares()     { f.mu.Lock(); defer f.mu.Unlock(); f.looks++ }
func (f *fakeIdle) Spread() bool    { f.mu.Lock(); defer f.mu.Unlock(); return f.spread > 0 }

func (f *fakeIdle) shed(_ uint8, n int) { f.mu.Lock(); defer f.mu.Unlock(); f.idle -= n }

func (f *fakeIdle) trim() bool {
	if f.trimming != nil {
		f.trimming()
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.inUse {
		return false
	}
	f.trims++
	f.idle = 0
	return true
}

func (f *fakeIdle) counts() (trims, ticks int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.trims, f.looks
}

// gatherFakes is the function of a Ticker.
func gatherFakes(all []Idle) {
	for _, i := range all {
		f := i.(*fakeIdle)
		f.mu.Lock()
		f.idle, f.spread = f.idle+f.spread, 0
		f.mu.Unlock()
	}
}

// An owner has a Decayer as a pool has its own.
type owner struct {
	_       [100]byte
	decay   Decayer
	idle    fakeIdle
	haste   *atomic.Uint32
	settled atomic.Int64
}

func newOwner(timeout time.Duration) *owner {
	haste := new(atomic.Uint32)
	p := newOwnerOf(NewTicker(func() Haste { return Haste(haste.Load()) }, gatherFakes), timeout)
	p.haste = haste
	return p
}

// newOwnerOf makes an owner of a Ticker that may have others.
func newOwnerOf(t *Ticker, timeout time.Duration) *owner {
	p := new(owner)
	p.decay.Init(t, timeout, p.idle.trim, func() { p.settled.Add(1) }, Part{Idle: &p.idle, Sizes: []int{1}, Shed: p.idle.shed})
	return p
}

func noHaste() Haste { return NoHaste }

// put makes n more blocks idle.
func (p *owner) put(n int) {
	p.idle.shed(0, -n)
	p.decay.Kept()
}

func (p *owner) left() int { return p.idle.Least(0) }

// tick is what the timer does.
func (p *owner) tick() {
	p.decay.mu.Lock()
	number := p.decay.number
	p.decay.mu.Unlock()
	p.decay.tick(number)
}

// collectedInHaste is what a collection does in haste to the pools that have the caller's clock.
func (p *owner) collectedInHaste() {
	now := time.Now()
	c := p.decay.ticker.here(now)
	r, _ := c.collected(now, true)
	c.run(r)
}

// uncollected keeps the collector from giving ticks, until the test's end.
func uncollected(t *testing.T) {
	before := debug.SetGCPercent(-1)
	t.Cleanup(func() { debug.SetGCPercent(before) })
}

// Blocks that are not needed stay for one timeout and are gone after two; then no timer is left.
func TestDecayer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const timeout = 32 * time.Second
		p := newOwner(timeout)
		if p.decay.Armed() {
			t.Error("a timer is armed, and nothing is idle")
		}
		for round := range 2 {
			p.put(100)
			time.Sleep(timeout)
			if p.left() != 100 || !p.decay.Armed() {
				t.Errorf("round %d: after one timeout %d of 100 are left", round, p.left())
			}
			steps, before := 0, p.left()
			for range 2 * Epochs {
				time.Sleep(timeout / Epochs)
				synctest.Wait() // a tick may be due at this moment
				if p.left() < before {
					steps, before = steps+1, p.left()
				}
			}
			if p.left() != 0 || steps < Epochs/2 {
				t.Errorf("round %d: after three timeouts %d of 100 are left, in %d steps", round, p.left(), steps)
			}
			if p.decay.Armed() {
				t.Errorf("round %d: a timer is armed, and nothing is idle", round)
			}
		}
	})
}

// However often Kept is called, one timer ticks, about once in an epoch.
func TestOneTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uncollected(t)
		const timeout = 32 * time.Second
		p := newOwner(timeout)
		for range 1000 {
			p.put(1)
			time.Sleep(timeout / 1000)
		}
		if _, tidy := p.idle.counts(); tidy < Epochs*3/4 || tidy > Epochs {
			t.Errorf("%d ticks in a timeout, want %d to %d", tidy, Epochs*3/4, Epochs)
		}
	})
}

func TestNoTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newOwner(0)
		p.put(10)
		p.decay.Loosened()
		time.Sleep(1000 * time.Hour)
		if p.left() != 10 || p.decay.Armed() || p.settled.Load() != 0 {
			t.Errorf("%d of 10 are left, a timer is armed: %v", p.left(), p.decay.Armed())
		}
	})
}

func TestHurry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uncollected(t)
		const timeout = 128 * time.Second
		p := newOwner(timeout)
		p.haste.Store(uint32(Hurry))
		p.put(100)
		time.Sleep(timeout / 4)
		if p.left() != 100 {
			t.Errorf("%d of 100 are left after a quarter of the timeout", p.left())
		}
		time.Sleep(timeout * 3 / 8)
		if p.left() != 0 {
			t.Errorf("%d of 100 are left after five eighths of the timeout", p.left())
		}
	})
}

// AllAtOnce empties a pool in use at the next tick, and then once a second; its classes do not
// decay in addition.
func TestAllAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uncollected(t)
		const seconds = 20
		p := newOwner(3200 * time.Millisecond) // ten ticks a second
		p.haste.Store(uint32(AllAtOnce))
		for range seconds * 50 {
			p.put(1)
			time.Sleep(time.Second / 50)
		}
		if trims, _ := p.idle.counts(); trims < seconds*3/4 || trims > seconds+1 {
			t.Errorf("%d trims in %d s", trims, seconds)
		}
		time.Sleep(2 * time.Second)
		if p.left() != 0 || p.decay.Armed() {
			t.Errorf("%d are left after two seconds", p.left())
		}
	})
}

// If a trim would come too soon after the last, the tick comes again later, even if the timeout is
// far away. A collection does not wait for its timer either.
func TestTrimThatWasPutOff(t *testing.T) {
	for name, tick := range map[string]func(p *owner){"tick": (*owner).tick, "collection": (*owner).collectedInHaste} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				uncollected(t)
				p := newOwner(24 * time.Hour)
				p.haste.Store(uint32(AllAtOnce))
				p.put(10)
				tick(p)
				if p.left() != 0 {
					t.Fatalf("%d are left after the first", p.left())
				}
				p.put(10)
				tick(p)
				if p.left() != 10 {
					t.Error("a second trim came at once")
				}
				time.Sleep(3 * time.Second)
				if p.left() != 0 {
					t.Errorf("%d are left after three seconds", p.left())
				}
			})
		})
	}
}

// A Trim that panics has ended, like any other.
func TestTrimPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uncollected(t)
		p := newOwner(24 * time.Hour)
		p.haste.Store(uint32(AllAtOnce))
		var calm atomic.Bool
		p.idle.trimming = func() {
			if !calm.Load() {
				panic("Drop")
			}
		}
		p.put(1)
		func() {
			defer func() { _ = recover() }()
			p.tick()
			t.Error("the panic is lost")
		}()
		calm.Store(true)
		time.Sleep(2 * time.Second)
		if p.tick(); p.left() != 0 {
			t.Error("after a Trim has panicked there is none")
		}
	})
}

// The clock of a bubble has nothing to do with the one outside, nor with the next bubble's.
func TestTrimsOfEachClock(t *testing.T) {
	var l lastTrim
	now := time.Now()
	at := func(name string, now time.Time, want bool) {
		t.Helper()
		if got := l.begin(now); got != want {
			t.Errorf("%s a trim may begin: %v", name, got)
		} else if got {
			if l.begin(now.Add(time.Hour)) {
				t.Errorf("%s a trim may begin while one is under way", name)
			}
			l.end(now)
		}
	}
	at("outside", now, true)
	at("soon after", now.Add(trimEvery-1), false)
	synctest.Test(t, func(*testing.T) {
		time.Sleep(time.Hour)
		at("in a bubble", time.Now(), true)
		time.Sleep(trimEvery - 1)
		at("soon after in a bubble", time.Now(), false)
		time.Sleep(time.Nanosecond)
		at("a second after in a bubble", time.Now(), true)
	})
	synctest.Test(t, func(*testing.T) {
		at("in the next bubble, whose clock is an hour behind,", time.Now(), true)
	})
	at("a second after", now.Add(trimEvery), true)
}

// Loosened makes the next tick call settle once more; until then a timer is armed.
func TestLoosened(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uncollected(t)
		const timeout = 32 * time.Second
		p := newOwner(timeout)
		for want := range int64(3) {
			if p.settled.Load() != want || p.decay.Armed() {
				t.Fatalf("settle was called %d times, want %d; a timer is armed: %v", p.settled.Load(), want, p.decay.Armed())
			}
			p.decay.Loosened()
			if p.settled.Load() != want {
				t.Error("Loosened calls settle")
			}
			time.Sleep(timeout)
		}
	})
	var none Decayer
	none.Init(NewTicker(noHaste, gatherFakes), time.Second, nil, nil)
	if none.Loosened(); none.Armed() {
		t.Error("a timer is armed where there is nothing to settle")
	}
}

// What is loosened while settle runs is settled by another tick.
func TestLoosenedMeanwhile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uncollected(t)
		var d Decayer
		var calls atomic.Int64
		d.Init(NewTicker(noHaste, gatherFakes), time.Second, nil, func() {
			if calls.Add(1) < 3 {
				d.Loosened()
			}
		})
		d.Loosened()
		time.Sleep(time.Second)
		if calls.Load() != 3 || d.Armed() {
			t.Errorf("settle was called %d times, want 3; a timer is armed: %v", calls.Load(), d.Armed())
		}
	})
}

func TestStop(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newOwner(time.Second)
		p.put(10)
		p.decay.Stop()
		p.put(10)
		p.decay.ticker.collected()
		time.Sleep(time.Hour)
		if _, tidy := p.idle.counts(); p.left() != 20 || tidy != 0 {
			t.Errorf("%d of 20 are left, after %d ticks", p.left(), tidy)
		}
		p = newOwner(time.Second)
		p.decay.Stop()
		if p.put(1); p.decay.Armed() {
			t.Error("a timer is armed after Stop")
		}
	})
}

// Neither the timer nor the cleanup of the next collection keeps a pool alive.
func TestDecayerHoldsNoPool(t *testing.T) {
	collected := make(chan struct{})
	func() {
		p := newOwner(time.Hour)
		p.put(1)
		if !p.decay.Armed() {
			t.Error("no timer is armed: this shows nothing")
		}
		runtime.AddCleanup(p, func(int) { close(collected) }, 0)
	}()
	for waiting := true; waiting; { // else the test runs into its timeout
		runtime.GC()
		select {
		case <-collected:
			waiting = false
		default:
		}
	}
}

// In haste each collection gives a tick of its own.
func TestTicksWithCollections(t *testing.T) {
	p := newOwner(24 * time.Hour)
	p.haste.Store(uint32(AllAtOnce))
	p.put(10)
	for p.left() > 0 { // else the test runs into its timeout
		time.Sleep(time.Millisecond)
		runtime.GC()
	}
}

// A pool that was made outside a bubble and first used in one decays after it, when it is
// used again, and when it is not.
func TestDecayerOutlivesBubbles(t *testing.T) {
	for _, again := range []bool{true, false} {
		p := newOwner(100 * time.Millisecond)
		synctest.Test(t, func(*testing.T) { p.put(3) }) // its timer dies with it
		if again {
			p.put(1)
		}
		for p.left() > 0 { // else the test runs into its timeout
			time.Sleep(time.Millisecond)
			if again {
				continue
			}
			p.decay.mu.Lock()
			if !p.decay.seen.IsZero() { // as if the bubble had been found a minute earlier
				p.decay.seen = p.decay.seen.Add(-bubbleLife)
			}
			p.decay.mu.Unlock()
			runtime.GC()
		}
	}
}

// Collections follow the clock outside. They do not advance a pool of a bubble, but empty it in
// haste.
func TestCollectionsInBubble(t *testing.T) {
	uncollected(t)
	p := newOwner(100 * time.Millisecond)
	outside := make(chan func())
	go func() {
		for f := range outside {
			f()
			outside <- nil
		}
	}()
	defer close(outside)
	synctest.Test(t, func(t *testing.T) {
		p.put(3)
		do := func(f func()) { outside <- f; <-outside }
		do(func() {
			for range 3 {
				time.Sleep(100 * time.Millisecond)
				p.decay.ticker.collected()
			}
		})
		if p.left() != 3 {
			t.Errorf("%d of 3 are left, and no time has passed in the bubble", p.left())
		}
		time.Sleep(300 * time.Millisecond)
		if p.left() != 0 {
			t.Errorf("%d of 3 are left after three timeouts", p.left())
		}
		p.put(3)
		p.haste.Store(uint32(AllAtOnce))
		if do(p.decay.ticker.collected); p.left() != 0 {
			t.Errorf("in haste %d of 3 are left after a collection", p.left())
		}
	})
}

// While one trim waits to stop the world no other begins; a slow release delays no other trim.
func TestInTurn(t *testing.T) {
	var now, most, ended atomic.Int64
	end := CountTrims(func(string) {
		if n := now.Add(1); n > most.Load() {
			most.Store(n)
		}
		runtime.Gosched()
	}, func() { now.Add(-1) })
	releasing, goOn := make(chan struct{}), make(chan struct{})
	slow := func(uint8, int) { releasing <- struct{}{}; <-goOn }
	go func() {
		InTurn("slow", func(release func(uint8, int)) { release(0, 1); release(0, 2) }, slow)
		ended.Add(1)
	}()
	<-releasing
	var all go125.WaitGroup
	var released atomic.Int64
	for range 8 {
		all.Go(func() {
			InTurn("quick", func(release func(uint8, int)) { release(1, 1); release(1, 2) }, func(uint8, int) { released.Add(1) })
			InTurn("empty", func(func(uint8, int)) {}, func(uint8, int) {}) // of nothing
		})
	}
	all.Wait() // else the test runs into its timeout
	if most.Load() != 1 || released.Load() != 16 || ended.Load() != 0 {
		t.Errorf("%d trims at once, %d blocks of 16 released, %d slow trims ended", most.Load(), released.Load(), ended.Load())
	}
	close(goOn)
	<-releasing
	end()
	func() {
		defer func() { _ = recover() }()
		InTurn("broken", func(func(uint8, int)) { panic("trim") }, func(uint8, int) {})
	}()
	InTurn("empty", func(func(uint8, int)) {}, func(uint8, int) {}) // else the test runs into its timeout
}
