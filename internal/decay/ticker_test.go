package decay

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"
	"weak"

	"github.com/dewpond/dewpond/internal/bubble"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// One timer ticks all, however many they are and whenever they come, and none is armed once nothing is idle.
func TestOneTimerForAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uncollected(t)
		const timeout = 32 * time.Second
		ticker := NewTicker(noHaste, gatherFakes)
		c := ticker.here(time.Now())
		var all []*owner
		for range 100 {
			p := newOwnerOf(ticker, timeout)
			p.put(3)
			all = append(all, p)
			time.Sleep(timeout / 100)
			c.mu.Lock()
			if n := len(c.armed); n < 1 || n > 2 { // one may look whether a runner is held up
				t.Errorf("%d timers are armed", n)
			}
			c.mu.Unlock()
		}
		time.Sleep(2 * timeout)
		synctest.Wait()
		for _, p := range all {
			if _, ticks := p.idle.counts(); p.left() != 0 || p.decay.Armed() || ticks < Epochs || ticks > 3*Epochs {
				t.Fatalf("%d of 3 are left after two timeouts and %d ticks; there will be a tick: %v", p.left(), ticks, p.decay.Armed())
			}
		}
		time.Sleep(timeout / Epochs) // for the next look at the runner
		synctest.Wait()
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.armed)+len(c.beats)+len(c.due)+len(c.spread) != 0 || c.live != 0 {
			t.Errorf("nothing is idle: %d timers, %d beats, %d due, a runner: %v", len(c.armed), len(c.beats), len(c.due), c.live != 0)
		}
	})
}

// Timeouts of many lengths share the timer, and each has about its own ticks.
func TestTimeoutsShareTheTimer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uncollected(t)
		ticker := NewTicker(noHaste, gatherFakes)
		timeouts := []time.Duration{100 * time.Hour, 32 * time.Second, time.Second, 320 * time.Millisecond, time.Minute}
		var all []*owner
		for _, timeout := range timeouts {
			p := newOwnerOf(ticker, timeout)
			all = append(all, p)
			p.put(3)
		}
		const length = 8 * time.Second
		time.Sleep(length)
		synctest.Wait()
		c := ticker.here(time.Now())
		c.mu.Lock()
		if n := len(c.armed); n > len(timeouts) {
			t.Errorf("%d timers are armed", n)
		}
		c.mu.Unlock()
		for i, p := range all {
			want := int(min(length, 2*timeouts[i]) / Epoch(timeouts[i]))
			if _, ticks := p.idle.counts(); ticks < want*3/4 || ticks > want*9/8+1 {
				t.Errorf("%d ticks in %v with a timeout of %v, want %d", ticks, length, timeouts[i], want)
			}
		}
	})
}

// A pool whose callback does not return, or ends the goroutine, keeps no other from decay.
func TestOthersGoOn(t *testing.T) {
	for name, callback := range map[string]func(goOn chan bool){
		"blocks": func(goOn chan bool) { <-goOn },
		"ends":   func(chan bool) { runtime.Goexit() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				uncollected(t)
				const timeout = 32 * time.Second
				ticker := NewTicker(noHaste, gatherFakes)
				goOn := make(chan bool)
				var all []*owner
				for i := range 9 {
					p := newOwnerOf(ticker, timeout)
					if i%3 == 0 {
						p.decay.parts[0].Shed = func(uint8, int) { callback(goOn) }
					}
					p.put(3)
					all = append(all, p)
				}
				time.Sleep(2*timeout + timeout/2)
				for i, p := range all {
					if want := 3 * ((3 - i%3) / 3); p.left() != want {
						t.Errorf("pool %d has %d of 3 left, want %d", i, p.left(), want)
					}
				}
				close(goOn)
				for _, p := range all {
					p.decay.Stop()
				}
			})
		})
	}
}

// If a callback panics, another goroutine ticks the others. The panic is not lost.
func TestOthersGoOnAfterPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uncollected(t)
		ticker := NewTicker(noHaste, gatherFakes)
		var all []*owner
		for range 3 {
			p := newOwnerOf(ticker, time.Hour)
			p.put(3)
			all = append(all, p)
		}
		all[0].decay.settle = func() { panic("Drop") }
		c := ticker.here(time.Now())
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			c.fire(c.armed[0])
		}()
		synctest.Wait()
		for i, p := range all {
			if _, ticks := p.idle.counts(); ticks != 1 || !p.decay.Armed() {
				t.Errorf("pool %d had %d ticks of 1; there will be another: %v", i, ticks, p.decay.Armed())
			}
		}
	})
}

// At high pressure GC cycles have all Decayers ticked, but once a second at most.
func TestCollectionsTickOnceASecond(t *testing.T) {
	uncollected(t)
	ticker := NewTicker(func() Haste { return AllAtOnce }, gatherFakes)
	p := newOwnerOf(ticker, time.Hour)
	c, now := &ticker.outside, time.Now()
	for _, tt := range []struct {
		after time.Duration
		ticks bool
	}{{0, true}, {trimEvery - 1, false}, {trimEvery, true}, {trimEvery + 1, false}, {-time.Hour, true}} {
		c.add(now, time.Hour, waiting{weak.Make(&p.decay), 0})
		r, _ := c.collected(now.Add(tt.after), true)
		if (r != 0) != tt.ticks {
			t.Errorf("a GC cycle after %v ticks: %v", tt.after, r != 0)
		}
		c.run(r)
	}
	runtime.KeepAlive(p)
}

// Ticks of a few Decayers, by a timer or after a GC cycle, allocate nothing: at the memory limit that would begin the
// next cycle.
func TestTicksAllocateNothing(t *testing.T) {
	uncollected(t)
	ticker := NewTicker(func() Haste { return AllAtOnce }, gatherFakes)
	all := []*owner{newOwnerOf(ticker, time.Hour), newOwnerOf(ticker, time.Hour)}
	for _, p := range all {
		p.idle.inUse, p.idle.used = true, 10
		p.put(10)
	}
	c, now := &ticker.outside, time.Now()
	ticks := func() {
		now = now.Add(-trimEvery) // a clock that was set back, which has no timer lost
		r, _ := c.collected(now, true)
		c.run(r)
		c.fire(c.armed[0])
	}
	ticks()
	if n := testing.AllocsPerRun(100, ticks); n != 0 && bubble.Told {
		t.Errorf("%v allocations", n)
	}
	for i, p := range all {
		if _, ticks := p.idle.counts(); ticks < 100 {
			t.Errorf("pool %d had %d ticks", i, ticks)
		}
	}
}

// A timer that would fire too late is moved, so that the first tick at high pressure makes none.
func TestTimerIsMoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ticker := NewTicker(noHaste, gatherFakes)
		now := time.Now()
		c := ticker.here(now)
		timers := func() int {
			c.mu.Lock()
			defer c.mu.Unlock()
			return len(c.armed)
		}
		c.mu.Lock()
		c.armLocked(now, now.Add(time.Minute))
		c.armLocked(now, now.Add(time.Second))
		c.mu.Unlock()
		if n := timers(); n != 1 {
			t.Errorf("%d timers are armed, want 1", n)
		}
		time.Sleep(time.Second)
		synctest.Wait()
		if n := timers(); n != 0 {
			t.Errorf("%d timers are armed after a second, want none", n)
		}
	})
}

// At high pressure, what was idle since the last tick goes from a pool in use. The rest goes as at medium pressure.
func TestAllAtOnceLeavesWhatIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uncollected(t)
		p := newOwner(time.Hour)
		p.haste.Store(uint32(AllAtOnce))
		p.idle.inUse = true
		p.put(10)
		p.idle.used = 3
		p.tick()
		if p.left() != 3 || p.idle.trims != 0 {
			t.Errorf("%d of 10 are left, of which 7 were idle, after %d trims", p.left(), p.idle.trims)
		}
	})
}

// A GC cycle asks once for the urgency, whatever number of Decayers waits, and not at all when none does.
func TestCollectionsAskOnce(t *testing.T) {
	uncollected(t)
	var asked atomic.Int64
	ticker := NewTicker(func() Haste { asked.Add(1); return NoHaste }, gatherFakes)
	var all []*owner
	for range 100 {
		p := newOwnerOf(ticker, time.Hour)
		p.put(1)
		all = append(all, p)
	}
	before := asked.Load()
	if ticker.collected(); asked.Load() != before+1 {
		t.Errorf("a collection asked %d times", asked.Load()-before)
	}
	if !ticker.watching.Load() {
		t.Error("the next collection does not ask")
	}
	for _, p := range all {
		p.idle.shed(0, 1)
		p.tick()
	}
	ticker.outside.beats = nil // what is left there has been replaced
	if ticker.collected(); ticker.watching.Load() {
		t.Error("the next GC cycle asks although none waits")
	}
}

// A timer that has died, as one does with a bubble that Go does not tell, is replaced after a collection.
func TestLostTimerIsReplaced(t *testing.T) {
	uncollected(t)
	p := newOwner(time.Hour)
	p.put(1)
	c := &p.decay.ticker.outside
	lost := &timer{of: c, at: time.Now().Add(-2 * late)}
	c.armed = []*timer{lost}
	if p.decay.ticker.collected(); len(c.armed) != 1 || c.armed[0] == lost {
		t.Errorf("%d timers, the first one lost: %v", len(c.armed), len(c.armed) > 0 && c.armed[0] == lost)
	}
}

// What processors have for themselves is gathered an eighth of the timeout later, for all pools at once, at most once a
// second, and then decays. All is gone after two timeouts.
func TestGather(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uncollected(t)
		for _, timeout := range []time.Duration{time.Minute, 8 * time.Second, time.Second} {
			var calls []time.Time
			var most int
			ticker := NewTicker(noHaste, func(all []Idle) {
				calls, most = append(calls, time.Now()), max(most, len(all))
				gatherFakes(all)
			})
			const pools, busy = 100, 3
			var all []*owner
			for range pools {
				p := newOwnerOf(ticker, timeout)
				p.idle.spread = 9
				p.put(1)
				all = append(all, p)
			}
			began := time.Now()
			for time.Since(began) < 2*timeout {
				time.Sleep(timeout / Epochs / 2)
				for _, p := range all[:busy] { // their processors take some again
					p.idle.mu.Lock()
					if p.idle.spread == 0 {
						p.idle.idle, p.idle.spread = p.idle.idle-1, 1
					}
					p.idle.mu.Unlock()
				}
			}
			synctest.Wait()
			for i, p := range all {
				if got := p.idle.idle + p.idle.spread; timeout >= 8*time.Second && got > 2 || i >= busy && got != 0 {
					t.Errorf("timeout %v: pool %d has %d after two", timeout, i, got)
				}
				p.decay.Stop()
			}
			for i := range calls {
				if i > 0 && calls[i].Sub(calls[i-1]) < min(gatherEvery, timeout/8) || i > 0 && calls[i].Sub(calls[i-1]) < gatherEvery {
					t.Errorf("timeout %v: gathered after %v", timeout, calls[i].Sub(calls[i-1]))
				}
			}
			if first := calls[0].Sub(began); first > timeout/8+timeout/Epochs || most != pools || len(calls) > 20 {
				t.Errorf("timeout %v: gathered %d times, first after %v, at most %d pools at once", timeout, len(calls), first, most)
			}
		}
	})
}

// Many pools do not all gather in one stop, and all of them do.
func TestGatherSomeAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		uncollected(t)
		const timeout = 32 * time.Second
		var most, sum int
		ticker := NewTicker(noHaste, func(all []Idle) {
			most, sum = max(most, len(all)), sum+len(all)
			gatherFakes(all)
		})
		var all []*owner
		for range 2*mostGathered + 1 {
			p := newOwnerOf(ticker, timeout)
			p.idle.spread = 1
			p.put(1)
			all = append(all, p)
		}
		time.Sleep(timeout / 3)
		synctest.Wait()
		if most != mostGathered || sum != len(all) {
			t.Errorf("%d of %d gathered, at most %d at once", sum, len(all), most)
		}
		for _, p := range all {
			p.decay.Stop()
		}
	})
}
