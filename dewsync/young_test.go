package dewsync_test

import (
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/dewsync"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// forgets reports whether a sync.Pool loses objects at random, as it does under the race detector. The caller has
// turned the collector off.
func forgets() bool {
	var p sync.Pool
	for range 100 {
		p.Put(new(int))
	}
	for range 100 {
		if p.Get() == nil {
			return true
		}
	}
	return false
}

// A Pool that is hardly used is a sync.Pool. With its 64th call it keeps what is idle itself, and has counted all
// calls.
func TestYoungPool(t *testing.T) {
	defer dewsync.StartYoung(0)()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	oneProcessor(t)
	onBoth(t, func(t *testing.T) {
		p := &dewsync.Pool{New: func() any { return new(padded) }}
		var out []any
		for range 10 {
			out = append(out, p.Get())
		}
		for _, x := range out {
			p.Put(x)
		}
		for calls := 20; calls < 62; calls += 2 {
			p.Put(p.Get())
		}
		p.Get()
		if dewsync.Sources(p) != nil {
			t.Fatal("a pool that is hardly used has shards")
		}
		p.Put(new(padded)) // the 64th
		s := stats(t, p)
		if s.Gets != 32 || s.Puts != 32 || s.Gets != s.Hits+s.Misses || s.Misses < 10 || s.Recovered != s.Hits {
			t.Errorf("64 calls are counted as %v", s)
		}
		if forgets() {
			return // a sync.Pool forgets some there
		}
		if n := idle(p); s.Misses != 10 || n != 10 {
			t.Errorf("%d objects are made, and %d idle, want 10 and 10", s.Misses, n)
		}
		before := s.Misses
		for range 10 {
			p.Get()
		}
		if s := stats(t, p); s.Misses != before {
			t.Errorf("%d objects that were idle are lost", s.Misses-before)
		}
	})
}

// Pools whose first calls come at once allocate nothing for themselves meanwhile, up to the 1024th call.
func TestYoungPoolsAllocateNothing(t *testing.T) {
	defer dewsync.StartYoung(time.Hour)()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	oneProcessor(t)
	if forgets() {
		t.Skip("a sync.Pool forgets some objects there")
	}
	var pools [8]dewsync.Pool
	for i := range pools {
		pools[i].New = func() any { return new(padded) }
	}
	if n := testing.AllocsPerRun(100, func() {
		for i := range pools {
			pools[i].Put(pools[i].Get())
		}
	}); n != 0 {
		t.Errorf("a Get and a Put of eight pools allocate %v times", n)
	}
	p := &pools[0] // after 202 calls
	for range 410 {
		p.Put(p.Get())
	}
	if p.Put(p.Get()); dewsync.Sources(p) == nil {
		t.Error("a pool has no shards after 1024 calls")
	}
}

// After youngAge the 64th call makes shards, and the next ones need not be many.
func TestYoungPoolAges(t *testing.T) {
	defer dewsync.StartYoung(dewsync.YoungAge)()
	restore := dewsync.SetAge(time.Minute)
	defer func() { restore() }()
	var p dewsync.Pool
	for range 100 {
		p.Put(new(padded))
	}
	restore()
	restore = dewsync.SetAge(time.Minute + dewsync.YoungAge - 1)
	if p.Put(new(padded)); dewsync.Sources(&p) != nil {
		t.Error("a pool has shards after 101 calls that came at once")
	}
	restore()
	restore = dewsync.SetAge(time.Minute + dewsync.YoungAge)
	if p.Put(new(padded)); dewsync.Sources(&p) == nil {
		t.Error("an older pool has no shards after 102 calls")
	}
}

// A pool that was young when package dewtest set DEWPOND_CHECK is checked from then on.
func TestYoungPoolIsCheckedLater(t *testing.T) {
	defer dewsync.StartYoung(time.Hour)()
	var p dewsync.Pool
	p.Put(new(padded))
	t.Setenv("DEWPOND_CHECK", "all")
	dewsync.ChangeSettings()
	defer dewsync.ChangeSettings()
	if p.Put(new(padded)); dewsync.Sources(&p) == nil {
		t.Error("the pool is still a sync.Pool")
	}
}

// A Get finds what the young pool has, also when it is the call with which the pool is not young any more.
func TestYoungObjectsAreFound(t *testing.T) {
	defer dewsync.StartYoung(0)()
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	oneProcessor(t)
	if forgets() {
		t.Skip("a sync.Pool forgets some objects there")
	}
	p := new(dewsync.Pool)
	for range 62 {
		p.Get()
	}
	p.Put("young")
	for range 3 {
		if x := p.Get(); x != "young" {
			t.Fatalf("the pool has %v", x)
		}
		p.Put("young")
	}
	if s := stats(t, p); s.Gets != 65 || s.Hits != 3 || s.Puts != 4 {
		t.Errorf("65 Gets, of which 3 find the object of 4 Puts, are counted as %v", s)
	}
}

// Where nothing may be left to the collector, or is to be watched, a Pool is never young.
func TestNeverYoung(t *testing.T) {
	defer dewsync.StartYoung(0)()
	use := func(t *testing.T) {
		p := new(dewsync.Pool)
		p.Put(new(padded))
		if dewsync.Sources(p) == nil {
			t.Error("the first object is left to the collector")
		}
	}
	t.Run("checked", func(t *testing.T) {
		t.Setenv("DEWPOND_CHECK", "sampled")
		use(t)
	})
	t.Run("no second tier", func(t *testing.T) {
		t.Setenv("DEWPOND_TIER", "off")
		use(t)
	})
	t.Run("in a bubble", func(t *testing.T) {
		p := new(dewsync.Pool)
		p.Put(new(padded))
		synctest.Test(t, func(t *testing.T) {
			if p.Get() != nil {
				t.Error("an object comes into the bubble from outside")
			}
			use(t)
		})
	})
}

// A Pool that was young outside of a bubble is not the bubble's when it grows up there, so it keeps nothing there.
func TestGrowsUpInBubble(t *testing.T) {
	defer dewsync.StartYoung(0)()
	p := &dewsync.Pool{New: func() any { return new(chan int) }}
	for range 5 {
		p.Put(p.Get())
	}
	out := p.Get()
	synctest.Test(t, func(t *testing.T) {
		x := p.Get()
		p.Put(x)
		if y := p.Get(); x == y {
			t.Error("the pool keeps an object of the bubble")
		} else {
			p.Put(y)
		}
	})
	p.Put(p.Get())
	p.Put(out)
	if s := stats(t, p); s.Gets != 9 || s.Puts != 9 || s.InUseBytes != 0 {
		t.Errorf("9 Gets and Puts are counted as %v", s)
	}
}

// Goroutines that have a pool grow up beneath them share no object, and each call counts once.
func TestManyGrowUp(t *testing.T) {
	defer dewsync.StartYoung(0)()
	const goroutines, rounds = 8, 20
	type owned struct{ by atomic.Int32 }
	for range 2000 {
		p := &dewsync.Pool{New: func() any { return new(owned) }}
		var wg sync.WaitGroup
		for range goroutines {
			wg.Add(1)
			go func() {
				defer wg.Done()
				for range rounds {
					x := p.Get().(*owned)
					if x.by.Add(1) != 1 {
						t.Error("an object has two owners")
					}
					runtime.Gosched()
					x.by.Add(-1)
					p.Put(x)
				}
			}()
		}
		wg.Wait()
		if s := stats(t, p); s.Gets != goroutines*rounds || s.Puts != s.Gets || s.InUseBytes != 0 {
			t.Fatalf("%d Gets and Puts are counted as %v", goroutines*rounds, s)
		}
	}
}
