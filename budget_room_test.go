package dewpond_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// The waiter that came first is served first, also if AllocLimit let it wait for bytes
// later than others.
func TestBudgetServesFirstWhomAllocLimitDelayed(t *testing.T) {
	leavesOut(t, "blocks that fill the budget")
	for _, youngerWants := range []int{1024, 3072} {
		synctest.Test(t, func(t *testing.T) {
			budget := dewpond.MustBudget("", 4096)
			slow := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, AllocLimit: 1, IdleTimeout: dewpond.NoDecay})
			other := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 3072}, Budget: budget, IdleTimeout: dewpond.NoDecay})
			kept := slow.Get(1024) // the one miss of this second
			var out [][]byte
			for range 3 {
				out = append(out, other.Get(1024))
			}
			defer func() { runtime.KeepAlive(kept); runtime.KeepAlive(out) }() // a collection would give back what is lost
			order := make(chan string, 2)
			wait := func(who string, p *dewpond.BytePool, n int) {
				go func() {
					if _, err := p.GetContext(t.Context(), n); err == nil {
						order <- who
					}
				}()
				synctest.Wait()
			}
			wait("older", slow, 1024)
			wait("younger", other, youngerWants)
			time.Sleep(2 * time.Second) // now both wait for bytes alone
			other.Put(out[0])
			synctest.Wait()
			if len(order) != 1 {
				t.Fatalf("younger wants %d: %d were served by one Put", youngerWants, len(order))
			}
			if who := <-order; who != "older" {
				t.Errorf("younger wants %d: the %s was served first", youngerWants, who)
			}
		})
	}
}

// A waiter that came first, and for which there are bytes as soon as AllocLimit allows it a
// miss, gets them, though a later one waits for more than there are.
func TestBudgetDoesNotKeepTheOlderWaiting(t *testing.T) {
	leavesOut(t, "blocks that fill the budget")
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 4096)
		slow := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, AllocLimit: 1, IdleTimeout: dewpond.NoDecay})
		other := newPool(t, dewpond.BytePoolOptions{Classes: []int{2048, 4096}, Budget: budget, IdleTimeout: dewpond.NoDecay})
		out := [][]byte{slow.Get(1024), other.Get(2048)} // lost blocks are charged until the collector has them
		defer runtime.KeepAlive(out)
		served := make(chan error, 2)
		go func() {
			_, err := slow.GetContext(t.Context(), 1024)
			served <- err
		}()
		synctest.Wait()
		go other.GetContext(t.Context(), 4096)
		synctest.Wait()
		time.Sleep(2 * time.Second)
		select {
		case err := <-served:
			if err != nil {
				t.Error(err)
			}
		default:
			t.Errorf("nobody was served, with %d of %d bytes charged", budget.Used(), budget.Limit())
		}
		other.Close() // ends the other wait
	})
}

// A panickySource is a meter that panics.
type panickySource struct {
	meter
	alloc, free atomic.Bool
}

func (s *panickySource) Alloc(size int) ([]byte, error) {
	if s.alloc.Load() {
		panic("Alloc")
	}
	return s.meter.Alloc(size)
}

func (s *panickySource) Free(b []byte) {
	if s.free.Load() {
		panic("Free")
	}
	s.meter.Free(b)
}

// A Source that panics takes nothing from the budget, nor of what AllocLimit allows,
// and the waiter behind the caller is served.
func TestBudgetAndPanickingAlloc(t *testing.T) {
	leavesOut(t, "what it gets to see that no miss and no byte is lost")
	ways := map[string]func(p *dewpond.BytePool){
		"Get":        func(p *dewpond.BytePool) { p.Get(1024) }, // which takes a miss for good
		"TryGet":     func(p *dewpond.BytePool) { p.TryGet(1024) },
		"GetContext": func(p *dewpond.BytePool) { p.GetContext(t.Context(), 1024) }, // which does not come to look at it
		"Prewarm":    func(p *dewpond.BytePool) { p.Prewarm(1024, 1) },
	}
	for name, way := range ways {
		budget := dewpond.MustBudget("", 4096)
		s := new(panickySource)
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, Memory: s, AllocLimit: 2})
		s.alloc.Store(true)
		for range 3 {
			if panics(func() { way(p) }) == "" {
				t.Errorf("%s does not panic", name)
			}
		}
		if used := budget.Used(); used != 0 {
			t.Errorf("%s: %d bytes are charged", name, used)
		}
		s.alloc.Store(false)
		for i := range 2 {
			if _, err := p.TryGet(1024); err != nil && name != "Get" {
				t.Errorf("%s: miss %d: %v", name, i, err)
			}
		}
	}
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 1024)
		s := new(panickySource)
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, Memory: s, IdleTimeout: dewpond.NoDecay})
		q := newPool(t, dewpond.BytePoolOptions{Classes: []int{512}, Budget: budget, IdleTimeout: dewpond.NoDecay})
		b := q.Get(512)
		first, second := make(chan bool, 1), make(chan error, 1)
		go func() { first <- panics(func() { p.GetContext(t.Context(), 1024) }) != "" }()
		synctest.Wait()
		go func() {
			_, err := q.GetContext(t.Context(), 512)
			second <- err
		}()
		synctest.Wait()
		s.alloc.Store(true)
		q.Put(b)
		if !<-first {
			t.Error("the first does not panic")
		}
		if err := <-second; err != nil {
			t.Error(err)
		}
	})
}

// A Source that panics in Free, under the budget's lock, leaves that free, no waiter
// behind, and nothing charged.
func TestBudgetAndPanickingFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 64<<10)
		s := new(panickySource)
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 64 << 10}, Budget: budget, Memory: s, IdleTimeout: dewpond.NoDecay})
		q := newPool(t, dewpond.BytePoolOptions{Classes: []int{512}, Budget: budget, IdleTimeout: dewpond.NoDecay})
		b := p.Get(64 << 10)
		ctx := hookedContext{t.Context(), func() {
			s.free.Store(true)
			p.Put(b)
		}}
		if panics(func() { q.GetContext(ctx, 512) }) == "" {
			t.Error("nothing panics")
		}
		s.free.Store(false)
		if !dewpond.Unlocked(budget) || dewpond.Waiting(q) {
			t.Fatal("the lock is held, or the caller waits still")
		}
		b, err := q.TryGet(512)
		if used := budget.Used(); err != nil || used != 512 {
			t.Errorf("%v, %d bytes are charged", err, used)
		}
		q.Put(b)
	})
}

// A call that is refused all the same frees no idle blocks: if what is in use leaves too
// little, or if it wants more than the whole budget.
func TestBudgetKeepsIdleBlocksFromTheRefused(t *testing.T) {
	leavesOut(t, "what the budget has room for in the end")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	budget := dewpond.MustBudget("", 256<<10)
	small := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget})
	large := newPool(t, dewpond.BytePoolOptions{Classes: []int{64 << 10, 128 << 10, 512 << 10}, Budget: budget})
	b := large.Get(128 << 10)
	large.Put(large.Get(64 << 10))
	var blocks [][]byte
	for range 32 {
		blocks = append(blocks, small.Get(1024))
	}
	for _, b := range blocks[1:] {
		small.Put(b)
	}
	for _, n := range []int{128 << 10, 512 << 10} {
		if _, err := large.TryGet(n); !errors.Is(err, dewpond.ErrExhausted) {
			t.Errorf("TryGet(%d): %v", n, err)
		}
	}
	if _, err := large.GetContext(t.Context(), 512<<10); !errors.Is(err, dewpond.ErrExhausted) {
		t.Errorf("GetContext: %v", err)
	}
	if idle := small.Stats().IdleBytes + large.Stats().IdleBytes; idle != 31<<10+64<<10 {
		t.Errorf("%d bytes are idle of %d", idle, 31<<10+64<<10)
	}
	small.Put(blocks[0])
	large.Put(b)
	large.TryGet(128 << 10)
	if _, err := large.TryGet(128 << 10); err != nil {
		t.Errorf("with all else idle: %v", err)
	}
}

// A pool that is collected cannot wake a waiter in a bubble, because the collector is in
// none. It does not end the program either, and the next call in the bubble that gives
// bytes back wakes the waiter.
func TestCollectedPoolAndBubble(t *testing.T) {
	leavesOut(t, "the waiters' blocks")
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 4096)
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, IdleTimeout: dewpond.NoDecay})
		func() {
			lost, err := makePool(dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, IdleTimeout: dewpond.NoDecay})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				lost.Get(1024)
			}
		}()
		b := p.Get(1024)
		served := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := p.GetContext(t.Context(), 1024)
				served <- err
			}()
		}
		synctest.Wait()
		for budget.Used() > 1024 {
			runtime.GC()
		}
		runtime.GC()
		p.Put(b)
		for range 2 {
			if err := <-served; err != nil {
				t.Error(err)
			}
		}
		runtime.KeepAlive(p)
	})
}

// A Budget that NewBudget did not make is refused by name.
func TestBudgetMustBeMade(t *testing.T) {
	if _, err := makePool(dewpond.BytePoolOptions{Budget: new(dewpond.Budget)}); err == nil {
		t.Error("no error")
	}
}

// A moodySource is a meter of which some calls fail, and some panic.
type moodySource struct {
	meter
	calls atomic.Int64

	panicsInFree bool // sometimes
	frees        atomic.Int64
}

func (s *moodySource) Free(b []byte) {
	s.meter.Free(b)
	if s.panicsInFree && s.frees.Add(1)%4 == 1 {
		panic("Free")
	}
}

func (s *moodySource) Alloc(size int) ([]byte, error) {
	switch s.calls.Add(1) % 16 {
	case 3:
		return nil, errNoMemory
	case 7:
		panic("Alloc")
	}
	return s.meter.Alloc(size)
}

// Whatever goes wrong for some calls at once (no memory, panics, waits given up, pools that
// are closed while others wait for them), no goroutine waits in vain and no byte is lost.
func TestBudgetSurvivesEverything(t *testing.T) { surviveEverything(t, new(moodySource)) }

// The same where Free panics too, which a timer would not survive.
func TestBudgetSurvivesPanickingFree(t *testing.T) {
	surviveEverything(t, &moodySource{panicsInFree: true})
}

func surviveEverything(t *testing.T, s *moodySource) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const limit = 256 << 10
	budget := dewpond.MustBudget("", limit)
	open := func(i int) *dewpond.BytePool {
		o := dewpond.BytePoolOptions{Budget: budget, Memory: s, Zero: dewpond.ZeroNever, Name: "moody"}
		switch i % 4 {
		case 0:
			o.Classes = []int{512, 4096}
		case 1:
			o.Classes, o.AllocLimit = []int{1024, 64 << 10}, 2000
		case 2:
			o.Classes, o.MaxIdleBytes = []int{2048, 128 << 10}, 8192
		case 3:
			o.Classes, o.IdleTimeout = []int{8192, 32 << 10}, 100*time.Millisecond
		}
		if s.panicsInFree {
			o.IdleTimeout = dewpond.NoDecay
		}
		p, err := makePool(o)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	var pools [4]atomic.Pointer[dewpond.BytePool]
	for i := range pools {
		pools[i].Store(open(i))
	}
	rounds := 400
	if testing.Short() {
		rounds = 60
	}
	var wg go125.WaitGroup
	for g := range 48 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(1, uint64(g)))
			for range rounds {
				i := rng.IntN(len(pools))
				p := pools[i].Load()
				classes := p.Stats().Classes
				n := classes[rng.IntN(len(classes))].Size
				switch what := rng.IntN(100); {
				case what == 0:
					panics(func() { p.Trim() })
				case what == 1:
					panics(func() { p.Prewarm(n, 2) })
				case what == 2 && g < 4:
					if next := open(i); pools[i].CompareAndSwap(p, next) {
						panics(func() { p.Close() })
					} else {
						next.Close()
					}
				default:
					ctx, cancel := t.Context(), func() {}
					if what < 30 {
						ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(2000))*time.Microsecond)
					}
					panics(func() {
						var b []byte
						if what%2 == 0 {
							b, _ = p.GetContext(ctx, n)
						} else {
							b, _ = p.TryGet(n)
						}
						if runtime.Gosched(); b != nil {
							p.Put(b)
						}
					})
					cancel()
				}
			}
		})
	}
	wg.Wait()
	if s.most.Load() > limit {
		t.Errorf("there were %d bytes at once, of %d", s.most.Load(), limit)
	}
	for i := range pools {
		if dewpond.Waiting(pools[i].Load()) {
			t.Error("somebody waits still")
		}
		panics(func() { pools[i].Load().Close() })
	}
	// A tick may be about to release what it has let go. If a byte is lost, the test runs
	// into its timeout.
	for budget.Used() != 0 || s.bytes.Load() != 0 {
		time.Sleep(time.Millisecond)
	}
	if n := dewpond.Claims(budget); n != 0 {
		t.Errorf("all are closed, and %d wait", n)
	}
}
