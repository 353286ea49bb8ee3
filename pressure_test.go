package dewpond_test

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/pressure"
)

// High pressure empties a pool at its next tick, medium four times as fast as low.
func TestDecayUnderPressure(t *testing.T) {
	defer dewpond.SetLevel(pressure.Low)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection gives a tick too
	for _, tt := range []struct {
		level pressure.Level
		kept  time.Duration // all, for so long
		gone  time.Duration
	}{
		{pressure.Low, 64 * time.Second, 150 * time.Second},
		{pressure.Medium, 16 * time.Second, 52 * time.Second},
		{pressure.High, time.Second, 5 * time.Second},
	} {
		for _, size := range []int{1000, 100_000} {
			synctest.Test(t, func(t *testing.T) {
				dewpond.SetLevel(tt.level)
				p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: 64 * time.Second})
				hold(p, size, 100)
				time.Sleep(tt.kept)
				if got := blocks(p.Stats()); got != 100 {
					t.Errorf("%v, size %d: %d of 100 blocks are left after %v", tt.level, size, got, tt.kept)
				}
				time.Sleep(tt.gone - tt.kept)
				synctest.Wait()
				if s := p.Stats(); blocks(s) != 0 || s.Trimmed != 100 {
					t.Errorf("%v, size %d: %d blocks are left after %v, %d trimmed", tt.level, size, blocks(s), tt.gone, s.Trimmed)
				} else if s.OffHeap.Committed != 0 { // off the heap
					t.Errorf("%v, size %d: %d bytes are committed after %v", tt.level, size, s.OffHeap.Committed, tt.gone)
				}
			})
		}
	}
}

// stops returns how often the world was stopped, but for the collector.
func stops() (n uint64) {
	s := []metrics.Sample{{Name: "/sched/pauses/total/other:seconds"}}
	metrics.Read(s)
	for _, c := range s[0].Value.Float64Histogram().Counts {
		n += c
	}
	return n
}

// Pools in use under high pressure are emptied once a second each: trims, stops of the
// world and misses are counted, by the clock of a bubble.
func TestHighPressureTrimsOnceASecond(t *testing.T) {
	notWatched(t, "it counts misses of pools that are in direct mode")
	defer dewpond.SetLevel(pressure.Low)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // a collection gives a tick too
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))  // blocks that others leave behind cost a stop too
	trims, ofAny, _ := dewpond.CountTrims(t, "pressed ", func() {})
	synctest.Test(t, func(t *testing.T) {
		const pools, seconds, each = 8, 20, 10
		var all []*dewpond.BytePool
		for i := range pools {
			// Ten ticks in a second.
			// With a second tier a pool in use would not be emptied.
			all = append(all, newPool(t, dewpond.BytePoolOptions{Name: fmt.Sprint("pressed ", i), IdleTimeout: 3200 * time.Millisecond, NoSecondTier: true}))
		}
		dewpond.SetLevel(pressure.High)
		stopped := stops()
		for range seconds * 50 {
			for _, p := range all {
				hold(p, 1000, each)
			}
			time.Sleep(time.Second / 50)
		}
		stopped = stops() - stopped
		misses := uint64(0)
		for _, p := range all {
			misses += p.Stats().Misses
		}
		n := trims()
		if n < pools*seconds/2 || n > pools*(seconds+1) {
			t.Errorf("%d trims of %d pools in %d s", n, pools, seconds)
		}
		// After a trim, and use of the pool meanwhile, all blocks are made again, twice at most.
		if most := uint64(2 * each * (n + pools)); misses > most {
			t.Errorf("%d misses in %d trims, want %d at most", misses, n, most)
		}
		if most := 2*uint64(ofAny()) + pools + 10; stopped > most { // each pool's first use is one
			t.Errorf("%d stops of the world in %d trims of any engine, want %d at most", stopped, ofAny(), most)
		}
		t.Logf("%d pools, %d s: %d trims, %d stops of the world, %d misses", pools, seconds, n, stopped, misses)

		// Now they are not used.
		time.Sleep(2 * time.Second)
		synctest.Wait()
		for _, p := range all {
			if s := p.Stats(); s.IdleBytes != 0 {
				t.Errorf("%d bytes of %s are idle after two seconds", s.IdleBytes, s.Name)
			}
		}
	})
}

// A collection lets every pool look at the pressure at once: they are emptied one after
// another, at once, and by another collection not before a second is over.
func TestHighPressureTrimsInTurn(t *testing.T) {
	defer dewpond.SetLevel(pressure.Low)
	defer debug.SetGCPercent(debug.SetGCPercent(-1)) // no collection but the test's
	trims, _, most := dewpond.CountTrims(t, "pressed ", func() {
		for range 100 {
			runtime.Gosched() // to other trims
		}
	})
	const pools = 8 // off the heap 32 bits hold no more
	var all []*dewpond.BytePool
	for i := range pools {
		all = append(all, newPool(t, dewpond.BytePoolOptions{Name: fmt.Sprint("pressed ", i), IdleTimeout: 24 * time.Hour}))
	}
	use := func() {
		for _, p := range all {
			hold(p, 1000, 10)
		}
	}
	empty := func() bool {
		for _, p := range all {
			if p.Stats().IdleBytes != 0 {
				return false
			}
		}
		return true
	}
	use()
	began := time.Now()
	dewpond.SetLevel(pressure.High)
	for !empty() { // else the test runs into its timeout
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	for range 50 {
		use()
		runtime.GC()
		runtime.Gosched()
	}
	n := trims()
	seconds := int64(time.Since(began)/time.Second) + 1
	if n < pools || n > pools*seconds {
		t.Errorf("%d trims of %d pools in less than %d s", n, pools, seconds)
	}
	if most() != 1 {
		t.Errorf("%d trims at once", most())
	}

	// What the last collection did not empty, because that was too soon, a timer does, though
	// the timeout is far away.
	for !empty() { // else the test runs into its timeout
		time.Sleep(10 * time.Millisecond)
	}
}

// An Allocator's Free may be slow, or wait for a trim of another pool: it does not hold up the
// next pool's trim.
func TestReleaseHoldsUpNoOtherTrim(t *testing.T) {
	defer dewpond.SetLevel(pressure.Low)
	dropping, goOn := make(chan struct{}), make(chan struct{})
	var first sync.Once
	slow := newObjects(t, dewpond.PoolOptions[account]{
		IdleTimeout: time.Hour,
		Drop: func(*account) {
			first.Do(func() { close(dropping) })
			<-goOn
		},
	})
	slow.Put(slow.Get())
	dewpond.SetLevel(pressure.High)
	for waiting := true; waiting; { // else the test runs into its timeout
		runtime.GC()
		select {
		case <-dropping:
			waiting = false
		case <-time.After(time.Millisecond):
		}
	}
	other := newPool(t, dewpond.BytePoolOptions{IdleTimeout: time.Hour})
	hold(other, 1000, 10)
	for other.Stats().IdleBytes != 0 { // else the test runs into its timeout
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	close(goOn)
}

// The clock of a bubble has nothing to do with the one outside, nor with the next bubble's:
// the first trim by each comes at once.
func TestHighPressureTrimsByEachClock(t *testing.T) {
	defer dewpond.SetLevel(pressure.Low)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	trims, _, _ := dewpond.CountTrims(t, t.Name(), func() {})
	p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: 3200 * time.Millisecond, NoSecondTier: true})
	dewpond.SetLevel(pressure.High)
	for i := range 3 {
		before := trims()
		synctest.Test(t, func(*testing.T) {
			time.Sleep(time.Duration(3-i) * time.Hour) // each earlier than the one before
			hold(p, 1000, 10)
			time.Sleep(200 * time.Millisecond)
			synctest.Wait()
			if n := trims() - before; n != 1 || p.Stats().IdleBytes != 0 {
				t.Errorf("bubble %d: %d trims, want 1; %d bytes are idle", i, n, p.Stats().IdleBytes)
			}
		})
	}
	dewpond.SetLevel(pressure.Low)
	before := trims()
	dewpond.SetLevel(pressure.High)
	for hold(p, 1000, 10); trims() == before; { // else the test runs into its timeout
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}

// A pool of a bubble, whose ticks go by its clock while collections go by the one outside, is
// emptied once a second by each, and not by turns.
func TestHighPressureByTurnsOfClocks(t *testing.T) {
	defer dewpond.SetLevel(pressure.Low)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	trims, _, _ := dewpond.CountTrims(t, t.Name(), func() {})
	ask := make(chan struct{})
	defer close(ask)
	go func() { // outside, by the real clock
		for range ask {
			runtime.GC()
			time.Sleep(2 * time.Millisecond)
			ask <- struct{}{}
		}
	}()
	began := time.Now()
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: 3200 * time.Millisecond, NoSecondTier: true})
		dewpond.SetLevel(pressure.High)
		for range 40 { // 6 s
			hold(p, 1000, 10)
			time.Sleep(150 * time.Millisecond)
			hold(p, 1000, 10)
			ask <- struct{}{}
			<-ask
		}
	})
	n := trims()
	outside := int64(time.Since(began)/time.Second) + 1
	if n < 6 || n > 7+outside {
		t.Errorf("%d trims in 6 s inside and less than %d s outside", n, outside)
	}
}

// Operations on two hundred pools in turn, while a collector that is short of memory ticks
// for all of them; and what high pressure does to them.
func BenchmarkPoolsUnderPressure(b *testing.B) {
	for _, level := range []pressure.Level{pressure.Low, pressure.High} {
		b.Run(level.String(), func(b *testing.B) {
			defer dewpond.SetLevel(pressure.Low)
			trims, _, _ := dewpond.CountTrims(b, "pressed ", func() {})
			var all []*dewpond.BytePool
			for i := range 200 {
				all = append(all, newPool(b, dewpond.BytePoolOptions{Name: fmt.Sprint("pressed ", i)}))
			}
			var garbage atomic.Pointer[[]byte]
			collect := time.NewTicker(10 * time.Millisecond)
			defer collect.Stop()
			done := make(chan struct{})
			defer close(done)
			go func() {
				for {
					select {
					case <-done:
						return
					case <-collect.C:
						some := make([]byte, 1<<20)
						garbage.Store(&some)
						runtime.GC()
					}
				}
			}()
			dewpond.SetLevel(level)
			stopped := stops()
			n := 0
			for b.Loop() {
				p := all[n/50%len(all)]
				block := p.Get(500)
				block[0] = 1
				p.Put(block)
				n++
			}
			seconds := b.Elapsed().Seconds()
			misses := uint64(0)
			for _, p := range all {
				misses += p.Stats().Misses
			}
			b.ReportMetric(float64(n)/seconds, "ops/s")
			b.ReportMetric(float64(trims()/2)/seconds, "trims/s")
			b.ReportMetric(float64(stops()-stopped)/seconds, "stops/s")
			b.ReportMetric(float64(misses)/seconds, "misses/s")
		})
	}
}
