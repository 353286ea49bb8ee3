package dewpond_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// metered makes pools of one budget whose memory one meter counts, of small, middle
// and large classes, and one that hardly keeps anything idle.
func metered(t testing.TB, budget *dewpond.Budget) (*meter, []*dewpond.BytePool) {
	m := new(meter)
	var pools []*dewpond.BytePool
	for _, o := range []dewpond.BytePoolOptions{
		{Classes: []int{64, 128, 1024}},
		{Classes: []int{1024, 8192, 32 << 10}},
		{Classes: []int{64 << 10, 1 << 20}},
		{Classes: []int{256, 4096}, MaxIdleBytes: 8192, AllocRate: 1e6},
	} {
		o.Budget, o.Memory, o.Zero, o.IdleTimeout = budget, m, dewpond.ZeroNever, -1
		pools = append(pools, newPool(t, o))
	}
	return m, pools
}

// What 512 goroutines have by TryGet and GetContext, and what lies idle in the four
// pools, never comes to more than the budget, whatever else is done to the pools.
func TestBudgetIsNeverExceeded(t *testing.T) {
	const limit = 4 << 20
	budget := dewpond.MustBudget("", limit)
	m, pools := metered(t, budget)
	rounds := 200
	if testing.Short() {
		rounds = 20
	}
	var wg, asked go125.WaitGroup
	asked.Add(512)
	var got, refused atomic.Int64
	for g := range 512 {
		wg.Go(func() {
			for i := range rounds {
				p := pools[(g+i)%len(pools)]
				classes := p.Stats().Classes
				n := classes[(g*7+i)%len(classes)].Size
				var b []byte
				var err error
				if i%2 == 0 {
					b, err = p.TryGet(n)
				} else {
					ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
					b, err = p.GetContext(ctx, n)
					cancel()
				}
				if i == 0 { // all hold what they got: some get nothing
					asked.Done()
					asked.Wait()
				}
				switch {
				case err == nil:
					got.Add(1)
					runtime.Gosched()
					p.Put(b)
				case errors.Is(err, dewpond.ErrExhausted), errors.Is(err, context.DeadlineExceeded):
					refused.Add(1)
				default:
					t.Error(err)
				}
				if i%50 == 0 && g%64 == 0 {
					p.Trim()
				}
			}
		})
	}
	wg.Wait()
	t.Logf("%d blocks, %d refusals, at most %d bytes at once", got.Load(), refused.Load(), m.most.Load())
	if m.most.Load() > limit {
		t.Errorf("there were %d bytes at once, of %d", m.most.Load(), limit)
	}
	if m.most.Load() < limit/2 || got.Load() == 0 || refused.Load() == 0 {
		t.Error("the budget was never tried: this shows nothing")
	}
	var idle int64
	for _, p := range pools {
		s := p.Stats()
		idle += s.IdleBytes
		if s.InUseBytes != 0 || s.OverBudget != 0 {
			t.Errorf("%s: InUseBytes %d, OverBudget %d", s.Name, s.InUseBytes, s.OverBudget)
		}
	}
	if budget.Used() != idle || m.bytes.Load() != idle {
		t.Errorf("idle %d bytes, charged %d, allocated %d", idle, budget.Used(), m.bytes.Load())
	}
	for _, p := range pools {
		p.Close()
	}
	if budget.Used() != 0 || m.bytes.Load() != 0 {
		t.Errorf("all are closed: charged %d, allocated %d", budget.Used(), m.bytes.Load())
	}
}

// Goroutines that want more than there is all get theirs in the end, though each
// waits only for what the others put back, in any of the pools.
func TestBudgetServesEverybody(t *testing.T) {
	budget := dewpond.MustBudget("", 1<<20)
	_, pools := metered(t, budget)
	rounds := 300
	if testing.Short() {
		rounds = 50
	}
	var wg go125.WaitGroup
	for g := range 64 {
		wg.Go(func() {
			for i := range rounds {
				p := pools[(g+i)%len(pools)]
				classes := p.Stats().Classes
				b, err := p.GetContext(t.Context(), classes[(g+i*5)%len(classes)].Size)
				if err != nil {
					t.Error(err)
					return
				}
				if i%3 == 0 {
					runtime.Gosched()
				}
				p.Put(b)
			}
		})
	}
	wg.Wait()
	if used := budget.Used(); used > budget.Limit() {
		t.Errorf("%d bytes are charged", used)
	}
}

// Idle blocks of one pool, in the shard of any processor, make room for those of another.
func TestBudgetLetsIdleBlocksGo(t *testing.T) {
	leavesOut(t, "the blocks that the budget had room for")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	const limit = 1 << 20
	for _, get := range []string{"TryGet", "GetContext"} {
		budget := dewpond.MustBudget("", limit)
		full := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 4096}, Budget: budget})
		other := newPool(t, dewpond.BytePoolOptions{Classes: []int{512, 64 << 10}, Budget: budget})
		var wg go125.WaitGroup
		held := make(chan []byte, limit/1024)
		for range limit / 1024 / 2 {
			held <- full.Get(1024)
		}
		for range limit / 4096 / 2 {
			held <- full.Get(4096)
		}
		if budget.Used() != limit || full.Stats().OverBudget != 0 {
			t.Fatalf("%d bytes are charged", budget.Used())
		}
		close(held)
		for range 16 {
			wg.Go(func() {
				for b := range held {
					full.Put(b)
					runtime.Gosched()
				}
			})
		}
		wg.Wait()
		var out [][]byte
		for i := range limit / (64 << 10) {
			var b []byte
			var err error
			if get == "TryGet" {
				b, err = other.TryGet(64 << 10)
			} else {
				b, err = other.GetContext(t.Context(), 64<<10)
			}
			if err != nil {
				t.Fatalf("%s: block %d: %v, with %d bytes idle", get, i, err, full.Stats().IdleBytes)
			}
			out = append(out, b)
		}
		if s := full.Stats(); s.IdleBytes != 0 || s.Trimmed != limit/1024/2+limit/4096/2 {
			t.Errorf("%s: IdleBytes %d, Trimmed %d", get, s.IdleBytes, s.Trimmed)
		}
		if _, err := other.TryGet(1); !errors.Is(err, dewpond.ErrExhausted) {
			t.Errorf("past the budget: %v", err)
		}
		if _, err := full.TryGet(1); !errors.Is(err, dewpond.ErrExhausted) {
			t.Errorf("past the budget, in another pool: %v", err)
		}
		if budget.Used() != limit {
			t.Errorf("%d bytes are charged", budget.Used())
		}
		runtime.KeepAlive(out)
	}
}

// A Get that misses takes what lies idle in depots before it goes past the budget.
func TestGetPastBudget(t *testing.T) {
	budget := dewpond.MustBudget("", 512<<10)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 256 << 10}, Budget: budget})
	p.Put(p.Get(256 << 10))
	p.Put(p.Get(256 << 10))
	var small [][]byte
	for range 512 {
		small = append(small, p.Get(1024))
	}
	s := p.Stats()
	if s.OverBudget != 0 || s.IdleBytes != 0 || budget.Used() != 512<<10 {
		t.Errorf("OverBudget %d, IdleBytes %d, Used %d", s.OverBudget, s.IdleBytes, budget.Used())
	}
	over := p.Get(256 << 10)
	s = p.Stats()
	if s.OverBudget != 1 || budget.Used() != 768<<10 || s.Refused != 0 {
		t.Errorf("past it: OverBudget %d, Used %d", s.OverBudget, budget.Used())
	}
	if d := p.Stats().Sub(s); d.OverBudget != 0 {
		t.Errorf("Sub: OverBudget %d", d.OverBudget)
	}
	p.Put(over)
	for _, b := range small {
		p.Put(b)
	}
	if p.Trim(); budget.Used() != 0 {
		t.Errorf("%d bytes are charged", budget.Used())
	}
}

// Whatever gives bytes back wakes the waiter for them, in another pool and of another
// size.
func TestBudgetWakesWaiters(t *testing.T) {
	leavesOut(t, "the waiters' blocks")
	const block = 64 << 10
	ways := map[string]func(p *dewpond.BytePool) (give func()){
		"Put": func(p *dewpond.BytePool) func() {
			b := p.Get(block)
			return func() { p.Put(b) }
		},
		"Close, then Put": func(p *dewpond.BytePool) func() {
			b := p.Get(block)
			return func() { p.Close(); p.Put(b) }
		},
		"Release": func(p *dewpond.BytePool) func() {
			l := p.Lease(block)
			return func() { l.Release() }
		},
		"Put of what went past the budget": func(p *dewpond.BytePool) func() {
			a, b := p.Get(block), p.Get(block)
			return func() { p.Put(a); p.Put(b) }
		},
	}
	for name, way := range ways {
		for _, idle := range []int64{0, dewpond.NoIdle} {
			synctest.Test(t, func(t *testing.T) {
				budget := dewpond.MustBudget("", block+512)
				giver := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, block}, Budget: budget, MaxIdleBytes: idle})
				taker := newPool(t, dewpond.BytePoolOptions{Classes: []int{512, 8192}, Budget: budget})
				give := way(giver)
				var done atomic.Int64
				for range 3 {
					go func() {
						c, err := taker.GetContext(t.Context(), 8192)
						if err != nil || len(c) != 8192 {
							t.Errorf("%s: %d bytes, %v", name, len(c), err)
						}
						done.Add(1)
					}()
				}
				synctest.Wait()
				if done.Load() != 0 || budget.Used() < block {
					t.Fatalf("%s: %d did not wait, %d bytes are charged", name, done.Load(), budget.Used())
				}
				give()
				synctest.Wait()
				if done.Load() != 3 || budget.Used() > budget.Limit() {
					t.Errorf("%s: %d were served, %d bytes are charged", name, done.Load(), budget.Used())
				}
			})
		}
	}
}

// A slowSource is a meter that takes its time to take a block back.
type slowSource struct {
	meter
	freeing, free chan struct{}
}

func (s *slowSource) Free(b []byte) {
	s.freeing <- struct{}{}
	<-s.free
	s.meter.Free(b)
}

// A goroutine that begins to wait while another has the last idle block in hand, to free
// it, finds nothing idle. It is served when the block is freed.
func TestBudgetWaiterMissesNothing(t *testing.T) {
	leavesOut(t, "the waiter's block")
	ways := map[string]func(p *dewpond.BytePool){
		"Trim":  func(p *dewpond.BytePool) { p.Trim() },
		"Close": func(p *dewpond.BytePool) { p.Close() },
		"Get":   func(p *dewpond.BytePool) { p.Get(1024) },
		"TryGet": func(p *dewpond.BytePool) {
			if _, err := p.TryGet(1024); err != nil && !errors.Is(err, dewpond.ErrExhausted) {
				panic(err)
			}
		},
		"decay": func(p *dewpond.BytePool) { time.Sleep(4 * time.Second) },
	}
	for name, letGo := range ways {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				budget := dewpond.MustBudget("", 256<<10)
				s := &slowSource{freeing: make(chan struct{}), free: make(chan struct{})}
				p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 256 << 10}, Budget: budget, Memory: s, IdleTimeout: time.Second})
				other := newPool(t, dewpond.BytePoolOptions{Classes: []int{512}, Budget: budget})
				p.Put(p.Get(256 << 10))
				go letGo(p)
				<-s.freeing
				served := false
				go func() {
					if _, err := other.GetContext(t.Context(), 512); err != nil {
						t.Error(err)
					}
					served = true
				}()
				synctest.Wait()
				if served {
					t.Fatal("the block is not free yet")
				}
				close(s.free)
				synctest.Wait()
				if !served {
					t.Errorf("nobody woke the waiter, with %d of %d bytes charged", budget.Used(), budget.Limit())
				}
				time.Sleep(time.Minute)
			})
		})
	}
}

// Waiters are served in the order in which they came, whatever they want, from
// whichever pool: a small one does not overtake a large one, nor does a Put to a pool
// serve its own waiter before an older one of another pool.
func TestBudgetServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 16<<10)
		a := newPool(t, dewpond.BytePoolOptions{Name: "a", Classes: []int{1024, 10240, 12288}, Budget: budget})
		b := newPool(t, dewpond.BytePoolOptions{Name: "b", Classes: []int{9472, 16 << 10}, Budget: budget})
		var out [][]byte
		for range 16 {
			out = append(out, a.Get(1024))
		}
		order := make(chan string, 10)
		wait := func(who string, p *dewpond.BytePool, n int) {
			go func() {
				c, err := p.GetContext(t.Context(), n)
				if err != nil {
					t.Error(err)
				}
				order <- who
				time.Sleep(time.Second)
				p.Put(c)
			}()
			synctest.Wait()
		}
		wait("b, large", b, 16<<10)
		wait("a, small", a, 10240)
		wait("b, small", b, 9472)
		wait("a, middle", a, 12288)
		for i, block := range out {
			if len(order) != 0 {
				t.Errorf("%q was served after %d Puts", <-order, i)
			}
			if _, err := a.TryGet(1024); !errors.Is(err, dewpond.ErrExhausted) {
				t.Errorf("TryGet overtook: %v", err)
			}
			a.Put(block)
			synctest.Wait()
		}
		time.Sleep(10 * time.Second)
		for _, want := range []string{"b, large", "a, small", "b, small", "a, middle"} {
			if got := <-order; got != want {
				t.Errorf("%q was served where it was the turn of %q", got, want)
			}
		}
		if s := a.Stats(); s.InUseBytes != 0 || s.Puts != 18 || s.Gets != 18 {
			t.Errorf("InUseBytes %d, Puts %d, Gets %d", s.InUseBytes, s.Puts, s.Gets)
		}
	})
}

// A block that is put back goes to the waiter that came first, not to the one
// that happens to wait for such a block.
func TestBudgetIsFairToOtherPools(t *testing.T) {
	leavesOut(t, "the block of the second waiter")
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 4<<10)
		a := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget})
		b := newPool(t, dewpond.BytePoolOptions{Classes: []int{4096}, Budget: budget})
		var out [][]byte
		for range 4 {
			out = append(out, a.Get(1024))
		}
		wait := func(p *dewpond.BytePool, n int) chan []byte {
			served := make(chan []byte, 1)
			go func() {
				b, err := p.GetContext(t.Context(), n)
				if err != nil {
					t.Error(err)
				}
				served <- b
			}()
			synctest.Wait()
			return served
		}
		older, younger := wait(b, 4096), wait(a, 1024)
		for i, block := range out {
			if len(older)+len(younger) != 0 {
				t.Fatalf("somebody was served after %d Puts", i)
			}
			a.Put(block)
			synctest.Wait()
		}
		if len(older) != 1 || len(younger) != 0 {
			t.Fatalf("served: %d older and %d younger", len(older), len(younger))
		}
		if s := a.Stats(); s.InUseBytes != 0 || s.IdleBytes != 0 || s.Puts != 4 || s.Dropped.Full+s.Trimmed != 4 {
			t.Errorf("%+v", s)
		}
		b.Put(<-older)
		<-younger
	})
}

// What is put back after GetContext has looked, and before it waits, is found.
func TestBudgetWakeUpIsNotLost(t *testing.T) {
	leavesOut(t, "the waiter's block")
	budget := dewpond.MustBudget("", 64<<10)
	giver := newPool(t, dewpond.BytePoolOptions{Classes: []int{64 << 10}, Budget: budget})
	taker := newPool(t, dewpond.BytePoolOptions{Classes: []int{512}, Budget: budget})
	b := giver.Get(1)
	ctx := hookedContext{t.Context(), func() {
		giver.Put(b)
		giver.Put(giver.Get(1))
	}}
	if _, err := taker.GetContext(ctx, 512); err != nil {
		t.Error(err)
	}
}

// A hookedSource is a meter that calls something before it allocates.
type hookedSource struct {
	meter
	before func()
}

func (h *hookedSource) Alloc(size int) ([]byte, error) {
	h.before()
	return h.meter.Alloc(size)
}

// What Prewarm has allocated is freed for goroutines that have begun to wait meanwhile.
func TestPrewarmServesBudget(t *testing.T) {
	leavesOut(t, "the waiter's block")
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 64<<10)
		taker := newPool(t, dewpond.BytePoolOptions{Classes: []int{512}, Budget: budget})
		served := make(chan error, 1)
		warm := newPool(t, dewpond.BytePoolOptions{Classes: []int{64 << 10}, Budget: budget, IdleTimeout: dewpond.NoDecay, Memory: &hookedSource{before: func() {
			go func() {
				_, err := taker.GetContext(t.Context(), 512)
				served <- err
			}()
			synctest.Wait()
		}}})
		if err := warm.Prewarm(1, 1); err != nil {
			t.Error(err)
		}
		if err := <-served; err != nil {
			t.Error(err)
		}
	})
}

// Goroutines that charge and give back at once lose no byte and invent none.
func TestBudgetCountsExactly(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	budget := dewpond.MustBudget("", 1<<30)
	m := new(meter)
	rounds := 50_000
	if testing.Short() {
		rounds = 10_000
	}
	var wg go125.WaitGroup
	for range 8 {
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64}, MaxIdleBytes: dewpond.NoIdle, Budget: budget, Memory: m, Zero: dewpond.ZeroNever})
		wg.Go(func() {
			for range rounds {
				p.Put(p.Get(64))
			}
		})
	}
	wg.Wait()
	if used := budget.Used(); used != 0 {
		t.Errorf("%d bytes are charged", used)
	}
}

// A budget forgets pools that are closed, or collected.
func TestBudgetForgetsPools(t *testing.T) {
	budget := dewpond.MustBudget("", 1<<20)
	open := newPool(t, dewpond.BytePoolOptions{Budget: budget})
	for range 10 {
		p := newPool(t, dewpond.BytePoolOptions{Budget: budget})
		p.Put(p.Get(1))
		p.Close()
		if _, err := makePool(dewpond.BytePoolOptions{Budget: budget}); err != nil {
			t.Fatal(err)
		}
	}
	for dewpond.Members(budget) != 1 {
		runtime.GC() // until the test is stopped
	}
	runtime.KeepAlive(open)
}

// A waiter that gives up does not keep those behind it waiting.
func TestBudgetWaiterGivesUp(t *testing.T) {
	leavesOut(t, "blocks that fill the budget")
	for _, how := range []string{"context", "Close"} {
		synctest.Test(t, func(t *testing.T) {
			budget := dewpond.MustBudget("", 10<<10)
			large := newPool(t, dewpond.BytePoolOptions{Classes: []int{8192}, Budget: budget, AllocRate: 1})
			small := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget})
			var out [][]byte
			for range 5 {
				out = append(out, small.Get(1024))
			}
			ctx, cancel := context.WithCancel(t.Context())
			gaveUp := make(chan error, 1)
			go func() {
				_, err := large.GetContext(ctx, 8192)
				gaveUp <- err
			}()
			synctest.Wait()
			served := make(chan error, 1)
			go func() {
				_, err := small.GetContext(t.Context(), 1024)
				served <- err
			}()
			synctest.Wait()
			if len(served) != 0 {
				t.Fatal("the small one overtook")
			}
			want := context.Canceled
			if how == "Close" {
				want = dewpond.ErrClosed
				large.Close()
			}
			cancel()
			if err := <-gaveUp; !errors.Is(err, want) {
				t.Errorf("%s: %v", how, err)
			}
			if err := <-served; err != nil {
				t.Errorf("%s: the next: %v", how, err)
			}
			if how == "context" { // what AllocRate had allowed it is the next one's
				time.Sleep(time.Millisecond)
				for _, b := range out[:4] {
					small.Put(b)
				}
				if _, err := large.TryGet(8192); err != nil {
					t.Errorf("the miss of the one who gave up is lost: %v", err)
				}
			}
		})
	}
}

// A Budget and an AllocRate together: neither is taken from where the other refuses.
func TestBudgetWithAllocRate(t *testing.T) {
	leavesOut(t, "the blocks that it counts")
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 4096)
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, AllocRate: 6, IdleTimeout: dewpond.NoDecay})
		var out [][]byte // or they would be charged until the collector has them
		for range 20 {   // four are within the budget
			b, _ := p.TryGet(1024)
			out = append(out, b)
		}
		if used := budget.Used(); used != 4096 {
			t.Errorf("%d bytes are charged", used)
		}
		runtime.KeepAlive(out)
		p.Close()
		q := newPool(t, dewpond.BytePoolOptions{Classes: []int{512}, Budget: dewpond.MustBudget("", 1<<20), AllocRate: 6})
		var got int
		for range 20 {
			if _, err := q.TryGet(512); err == nil {
				got++
			}
		}
		if got != 6 {
			t.Errorf("%d within AllocRate", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 4096)
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, AllocRate: 6})
		var out [][]byte
		for range 10 {
			if b, err := p.TryGet(1024); err == nil {
				out = append(out, b)
			}
		}
		// The six refusals for bytes have not used up the two misses that are left.
		p.Put(out[0])
		p.Trim()
		p.Put(out[1])
		p.Trim()
		for i := range 2 {
			if _, err := p.TryGet(1024); err != nil {
				t.Errorf("miss %d: %v", 5+i, err)
			}
		}
	})
}

// What the Allocator cannot give is not charged.
func TestBudgetAndFailingSource(t *testing.T) {
	budget := dewpond.MustBudget("", 4096)
	m := new(meter)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, Memory: m})
	m.fail.Store(true)
	if _, err := p.TryGet(1024); !errors.Is(err, errNoMemory) {
		t.Error(err)
	}
	if err := p.Prewarm(1024, 1); !errors.Is(err, errNoMemory) {
		t.Error(err)
	}
	if s := p.Get(1024); len(s) != 1024 {
		t.Error("Get has none")
	}
	if used := budget.Used(); used != 0 {
		t.Errorf("%d bytes are charged", used)
	}
}

// Prewarm takes what there is of the budget, and frees no idle blocks for more.
func TestPrewarmKeepsToBudget(t *testing.T) {
	budget := dewpond.MustBudget("", 10<<10)
	p := newPool(t, dewpond.BytePoolOptions{Name: "warm", Classes: []int{1024, 4096}, Budget: budget})
	p.Put(p.Get(4096))
	err := p.Prewarm(1000, 10)
	if err == nil || !strings.Contains(err.Error(), `pool "warm": its Budget of 10240 bytes has room for 6 blocks of 1024 bytes`) {
		t.Error(err)
	}
	if s := p.Stats(); s.IdleBytes != 10<<10 || budget.Used() != 10<<10 {
		t.Errorf("IdleBytes %d, Used %d", s.IdleBytes, budget.Used())
	}
}

// After Close Prewarm says so, also where another pool has used up the budget.
func TestPrewarmAfterCloseOfFullBudget(t *testing.T) {
	budget := dewpond.MustBudget("", 1024)
	other, p := newPool(t, dewpond.BytePoolOptions{Budget: budget}), newPool(t, dewpond.BytePoolOptions{Budget: budget})
	defer other.Put(other.Get(1024))
	p.Close()
	if err := p.Prewarm(1024, 1); err != dewpond.ErrClosed {
		t.Error(err)
	}
}

// Nobody waits for what can never be.
func TestBudgetIsTooSmall(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Name: "large", Classes: []int{1024, 4096}, Budget: dewpond.MustBudget("", 4095)})
	_, err := p.GetContext(t.Context(), 4096)
	if !errors.Is(err, dewpond.ErrExhausted) || !strings.Contains(err.Error(), `a block of 4096 bytes for pool "large" is more than its Budget of 4095`) {
		t.Error(err)
	}
	if _, err := p.TryGet(4096); !errors.Is(err, dewpond.ErrExhausted) {
		t.Error(err)
	}
	if s := p.Stats(); s.Refused != 2 {
		t.Errorf("Refused %d", s.Refused)
	}
}

func TestBudgetOfNothing(t *testing.T) {
	const want = `dewpond: NewBudget("frames", -1): give a number of bytes above 0`
	if b, err := dewpond.NewBudget("frames", -1); b != nil || err == nil || err.Error() != want {
		t.Errorf("NewBudget returns %v and %v", b, err)
	}
	if text := panics(func() { dewpond.MustBudget("frames", -1) }); text != want {
		t.Errorf("MustBudget panics with %q", text)
	}
}

// A block off the heap that is never put back stays charged as long as there is its pool,
// and no longer. A waiter for its bytes gets them then.
func TestForgottenBlockStaysCharged(t *testing.T) {
	if !offHeap {
		t.Skip("on the heap the collector finds it: see TestForgottenBlockIsUncharged")
	}
	budget := dewpond.MustBudget("", 4096)
	other, err := makePool(dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget})
	if err != nil {
		t.Fatal(err)
	}
	func() {
		p, err := makePool(dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget})
		if err != nil {
			t.Fatal(err)
		}
		for range 4 {
			p.Get(1024) // forgotten
		}
		runtime.GC()
		runtime.GC()
		if _, err := other.TryGet(1024); !errors.Is(err, dewpond.ErrExhausted) || budget.Used() != 4096 {
			t.Errorf("%v, %d bytes are charged", err, budget.Used())
		}
		runtime.KeepAlive(p)
	}()
	got := make(chan error, 1)
	go func() {
		_, err := other.GetContext(t.Context(), 1024)
		got <- err
	}()
	for {
		runtime.GC()
		select {
		case err := <-got:
			if err != nil || budget.Used() != 1024 {
				t.Errorf("%v, %d bytes are charged", err, budget.Used())
			}
			runtime.KeepAlive(other)
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// Slices that a pool on the heap takes for its blocks were not charged.
func TestBudgetAndStrangers(t *testing.T) {
	notWatched(t, putsForeign)
	budget := dewpond.MustBudget("", 1<<20)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{768, 1024}, Budget: budget})
	q := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget})
	out := q.Get(1024)
	defer runtime.KeepAlive(out)
	p.Put(p.Get(1024))
	for range 10 {
		p.Put(make([]byte, 768))
	}
	p.Trim()
	if used := budget.Used(); used != 1024 {
		t.Errorf("%d bytes are charged, of which q has 1024", used)
	}
}

// While a goroutine waits for bytes nothing is idle in any pool, also not in one that joins
// meanwhile: its first Put enters direct mode. Once none waits, and none has been refused for a
// while, every pool has its shards again.
func TestBudgetEntersAndLeavesDirect(t *testing.T) {
	notWatched(t, seesDirect)
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 4096+256)
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget})
		q := newPool(t, dewpond.BytePoolOptions{Classes: []int{64}, Budget: budget})
		var out [][]byte
		for range 4 {
			out = append(out, p.Get(1024))
		}
		var served atomic.Bool
		go func() {
			b, err := p.GetContext(t.Context(), 1024)
			if err != nil {
				t.Error(err)
			}
			out[0] = b
			served.Store(true)
		}()
		synctest.Wait()
		late := newPool(t, dewpond.BytePoolOptions{Classes: []int{256}, Budget: budget})
		q.Put(q.Get(64)) // Get goes past what is reserved for those that wait
		late.Put(late.Get(256))
		for _, pool := range []*dewpond.BytePool{p, q, late} {
			if s := pool.Stats(); !dewpond.IsDirect(pool) || s.IdleBytes != 0 {
				t.Errorf("%s: in direct mode: %v; %d bytes are idle", pool.Name(), dewpond.IsDirect(pool), s.IdleBytes)
			}
		}
		time.Sleep(time.Second)
		for range 200 {
			q.Put(q.Get(64))
		}
		if !dewpond.IsDirect(q) {
			t.Error("q has its shards while somebody waits")
		}
		p.Put(out[0])
		synctest.Wait()
		if !served.Load() {
			t.Fatal("nobody was served")
		}
		time.Sleep(time.Second)
		for _, b := range out {
			p.Put(b) // else what q gets is past the budget, and is not kept
		}
		mustLeaveDirect(t, q, func() { q.Put(q.Get(64)) })
		mustLeaveDirect(t, late, func() { late.Put(late.Get(256)) })
	})
}

// The waiter that came first is served first, also if AllocRate let it wait for bytes
// later than others.
func TestBudgetServesFirstWhomAllocRateDelayed(t *testing.T) {
	leavesOut(t, "blocks that fill the budget")
	for _, youngerWants := range []int{1024, 3072} {
		synctest.Test(t, func(t *testing.T) {
			budget := dewpond.MustBudget("", 4096)
			slow := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, AllocRate: 1, IdleTimeout: dewpond.NoDecay})
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

// A waiter that came first, and for which there are bytes as soon as AllocRate allows it a
// miss, gets them, though a later one waits for more than there are.
func TestBudgetDoesNotKeepTheOlderWaiting(t *testing.T) {
	leavesOut(t, "blocks that fill the budget")
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 4096)
		slow := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, AllocRate: 1, IdleTimeout: dewpond.NoDecay})
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

// An Allocator that panics takes nothing from the budget, nor of what AllocRate allows,
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
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, Memory: s, AllocRate: 2})
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

// An Allocator that panics in Free, under the budget's lock, leaves that free, no waiter
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
			o.Classes, o.AllocRate = []int{1024, 64 << 10}, 2000
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

// Slices of a class's size that were not charged are refused, and change nothing.
func TestBudgetRefusesStrangers(t *testing.T) {
	notWatched(t, putsForeign)
	budget := dewpond.MustBudget("", 1<<20)
	p := newPool(t, dewpond.BytePoolOptions{Budget: budget})
	for range 1024 {
		p.Put(make([]byte, 4096))
	}
	if s := p.Stats(); s.IdleBytes != 0 || s.Dropped.Foreign != 1024 || s.Puts != 1024 || budget.Used() != 0 {
		t.Errorf("IdleBytes %d, Dropped.Foreign %d, Puts %d, Used %d", s.IdleBytes, s.Dropped.Foreign, s.Puts, budget.Used())
	}

	var out [][]byte
	for range 256 {
		b, err := p.TryGet(4096)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, b)
	}
	for i := range 256 {
		p.Put(append([]byte(nil), make([]byte, 8192)...))
		p.Put(out[i][: 0 : 1<<(7+i%5)]) // a part that has a class's size
		p.Put(out[i][1024:2048:2048])
		if i%16 == 0 {
			p.Trim()
		}
	}
	if _, err := p.TryGet(4096); !errors.Is(err, dewpond.ErrExhausted) {
		t.Errorf("another block, with the whole budget in use: %v", err)
	}
	s := p.Stats()
	if budget.Used() != 1<<20 || s.InUseBytes != 1<<20 || s.IdleBytes != 0 || s.Dropped.Foreign != 1024+3*256 {
		t.Errorf("Used %d, InUseBytes %d, IdleBytes %d, Dropped.Foreign %d", budget.Used(), s.InUseBytes, s.IdleBytes, s.Dropped.Foreign)
	}
	for _, b := range out {
		p.Put(b[:0])
	}
	if s := p.Stats(); s.InUseBytes != 0 || s.IdleBytes != 1<<20 || budget.Used() != 1<<20 {
		t.Errorf("all is back: InUseBytes %d, IdleBytes %d, Used %d", s.InUseBytes, s.IdleBytes, budget.Used())
	}
}

// A block of one pool is a stranger to another of the same Budget.
func TestBudgetKnowsWhoseBlockItIs(t *testing.T) {
	notWatched(t, putsForeign)
	budget := dewpond.MustBudget("", 1<<20)
	a := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 64 << 10}, Budget: budget})
	b := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024, 64 << 10}, Budget: budget})
	for _, n := range []int{1024, 64 << 10, 65<<10 + 1} {
		x := a.Get(n)
		before := budget.Used()
		b.Put(x)
		if s := b.Stats(); s.IdleBytes != 0 || budget.Used() != before {
			t.Errorf("%d bytes: IdleBytes %d, Used %d of %d", n, s.IdleBytes, budget.Used(), before)
		}
		a.Put(x)
	}
	if s := a.Stats(); s.IdleBytes != 65<<10 || budget.Used() != 65<<10 {
		t.Errorf("IdleBytes %d, Used %d", s.IdleBytes, budget.Used())
	}
}

// At the address of a lost block there may be a slice of make's next. It is no block, and
// what the lost one was charged with comes back.
func TestStrangerAtALostBlocksAddress(t *testing.T) {
	notWatched(t, putsForeign)
	onlyOnHeap(t, "nobody's make lies where a block was")
	const count, size = 200, 8192
	budget := dewpond.MustBudget("", count*size)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{size}, Budget: budget, IdleTimeout: dewpond.NoDecay})
	addresses := map[string]bool{}
	for range count {
		addresses[fmt.Sprintf("%p", p.Get(size))] = true
	}
	met := 0
	var strangers [][]byte // all of them, so that they come to lie everywhere
	for budget.Used() > 0 || met == 0 {
		if budget.Used() == 0 && len(strangers) > 200*count {
			t.Skip("no slice of make's came to lie where a block was")
		}
		runtime.GC()
		for range 4 * count {
			b := make([]byte, size)
			if addresses[fmt.Sprintf("%p", b)] {
				met++
			}
			p.Put(b)
			strangers = append(strangers, b)
		}
		if s := p.Stats(); s.IdleBytes != 0 {
			t.Fatalf("%d bytes of strangers are idle", s.IdleBytes)
		}
	}
	runtime.KeepAlive(strangers)
	t.Logf("%d strangers lay where a block was", met)
}

// What its owner loses is charged until the collector finds it, and the one that waits
// for its bytes gets them then: of a class or larger.
func TestForgottenBlockIsUncharged(t *testing.T) {
	for _, n := range []int{1024, 4096 + 16} {
		if offHeap && n <= 4096 {
			made(t)
			continue // see TestForgottenBlockStaysCharged
		}
		budget := dewpond.MustBudget("", 8192)
		p, err := makePool(dewpond.BytePoolOptions{Classes: []int{1024, 4096}, Budget: budget, IdleTimeout: dewpond.NoDecay})
		if err != nil {
			t.Fatal(err)
		}
		for p.Stats().Refused == 0 {
			p.TryGet(n) // forgotten
		}
		if used := budget.Used(); used != int64(8192/n*n) {
			t.Errorf("%d bytes are charged", used)
		}
		got := make(chan error, 1)
		go func() {
			b, err := p.GetContext(t.Context(), 8000)
			got <- err
			p.Put(b)
		}()
		for len(got) == 0 {
			runtime.GC() // until the test is stopped
			runtime.Gosched()
		}
		if err := <-got; err != nil {
			t.Error(err)
		}
		for budget.Used() != 0 {
			runtime.GC()
		}
		p.Close()
	}
}

// A pool that is collected takes along what is idle, and not what is in use on the heap.
func TestCollectedPoolLeavesWhatIsInUseCharged(t *testing.T) {
	for _, own := range []bool{true, false} {
		budget := dewpond.MustBudget("", 1<<20)
		o := dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget}
		left := int64(3024)
		if !own {
			o.Memory = new(meter)
		}
		if !own || offHeap {
			left = 2000 // the other is the Allocator's
		}
		class, large := func() (class, large []byte) {
			p, err := makePool(o)
			if err != nil {
				t.Fatal(err)
			}
			made(t)
			class, large = p.Get(1024), p.Get(2000)
			idle := [][]byte{p.Get(1024), p.Get(1024), p.Get(1024)}
			for _, b := range idle {
				p.Put(b)
			}
			return class, large
		}()
		for dewpond.Members(budget) > 0 || budget.Used() > left {
			runtime.GC()
		}
		runtime.GC()
		if used := budget.Used(); used != left {
			t.Errorf("%d bytes are charged, of which %d are in use", used, left)
		}
		runtime.KeepAlive(class)
		runtime.KeepAlive(large)
		for class, large = nil, nil; budget.Used() > 0; {
			runtime.GC()
		}
	}
}

// TryGet and GetContext obey the Budget above the largest class too.
func TestBudgetHoldsAboveTheLargestClass(t *testing.T) {
	notWatched(t, putsForeign)
	budget := dewpond.MustBudget("", 1<<20)
	p := newPool(t, dewpond.BytePoolOptions{Name: "large", Budget: budget, Classes: []int{1024, 64 << 10}})
	for range 100 {
		if b, err := p.TryGet(1<<20 + 1); !errors.Is(err, dewpond.ErrExhausted) {
			t.Fatalf("%d bytes, %v", len(b), err)
		}
	}
	_, err := p.GetContext(t.Context(), math.MaxInt)
	if want := fmt.Sprintf(`a block of %d bytes for pool "large" is more than its Budget of 1048576 will ever have`, math.MaxInt); !errors.Is(err, dewpond.ErrExhausted) || !strings.Contains(err.Error(), want) {
		t.Error(err)
	}
	if s := p.Stats(); s.Refused != 101 || s.Gets != 0 || s.Oversize != 0 || budget.Used() != 0 {
		t.Errorf("Refused %d, Gets %d, Used %d", s.Refused, s.Gets, budget.Used())
	}

	all := newPool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", math.MaxInt64)})
	defer all.Put(all.Get(64))
	if math.MaxInt == math.MaxInt64 { // else there would be room
		if _, err := all.TryGet(math.MaxInt); !errors.Is(err, dewpond.ErrExhausted) {
			t.Errorf("64 bytes more than there can be: %v", err)
		}
	}

	p.Put(p.Get(64 << 10)) // idle, and let go when its bytes are needed
	var out [][]byte
	for range 100 {
		if b, err := p.TryGet(100_000); err == nil {
			out = append(out, b)
		}
	}
	if s := p.Stats(); len(out) != 10 || budget.Used() != 1_000_000 || s.IdleBytes != 0 || s.Oversize != 10 || s.OverBudget != 0 {
		t.Errorf("%d slices, Used %d, IdleBytes %d, Oversize %d", len(out), budget.Used(), s.IdleBytes, s.Oversize)
	}
	over := p.Get(100_000)
	if s := p.Stats(); s.OverBudget != 1 || budget.Used() != 1_100_000 || s.Budget.Excess != 1_100_000-1<<20 {
		t.Errorf("Get past it: OverBudget %d, Used %d, Budget.Excess %d", s.OverBudget, budget.Used(), s.Budget.Excess)
	}
	p.Put(over[1:])
	p.Put(over[:70_000:70_000])
	p.Put(over[:0:1024])
	if used := budget.Used(); used != 1_100_000 {
		t.Errorf("parts of it were put back: Used %d", used)
	}
	p.Put(over[:0])
	p.Put(over)
	for _, b := range out {
		p.Put(b)
	}
	if used := budget.Used(); used != 0 {
		t.Errorf("all is back: Used %d", used)
	}
}

// A waiter for more than the largest class is served in turn, with the waiters for blocks
// in any pool of the Budget.
func TestBudgetServesOversizeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 8<<10)
		a := newPool(t, dewpond.BytePoolOptions{Name: "a", Classes: []int{1024}, Budget: budget, AllocRate: 1000})
		b := newPool(t, dewpond.BytePoolOptions{Name: "b", Classes: []int{512, 2048}, Budget: budget})
		var out [][]byte
		for range 8 {
			out = append(out, a.Get(1024))
		}
		order := make(chan string, 4)
		wait := func(who string, p *dewpond.BytePool, n int) {
			go func() {
				b, err := p.GetContext(t.Context(), n)
				if err != nil || len(b) != n {
					t.Errorf("%s: %d bytes, %v", who, len(b), err)
				}
				order <- who
				time.Sleep(time.Second)
				p.Put(b)
			}()
			synctest.Wait()
		}
		wait("a, large", a, 5000)
		wait("a, small", a, 1024)
		wait("b, large", b, 8192)
		wait("b, small", b, 512)
		for i, block := range out {
			if want := min(max(0, i-4), 2); len(order) != want {
				t.Errorf("after %d Puts %d were served", i, len(order))
			}
			a.Put(block)
			synctest.Wait()
		}
		time.Sleep(10 * time.Second)
		for _, want := range []string{"a, large", "a, small", "b, large", "b, small"} {
			if got := <-order; got != want {
				t.Errorf("%q was served where it was the turn of %q", got, want)
			}
		}
		a.Trim()
		b.Trim()
		if used := budget.Used(); used != 0 || dewpond.Claims(budget) != 0 {
			t.Errorf("Used %d, %d claims", used, dewpond.Claims(budget))
		}
	})
}

// A wait for more than the largest class ends with its context, and with Close, and keeps
// no waiter behind it.
func TestBudgetOversizeWaiterGivesUp(t *testing.T) {
	for _, how := range []string{"context", "Close"} {
		synctest.Test(t, func(t *testing.T) {
			budget := dewpond.MustBudget("", 4096)
			p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, AllocRate: 1})
			q := newPool(t, dewpond.BytePoolOptions{Classes: []int{512}, Budget: budget})
			b := q.Get(3000)
			ctx, cancel := context.WithCancel(t.Context())
			var errs, next []error
			go func() {
				_, err := p.GetContext(ctx, 4096)
				errs = append(errs, err)
			}()
			synctest.Wait()
			go func() {
				c, err := q.GetContext(t.Context(), 512)
				next = append(next, err)
				q.Put(c)
			}()
			synctest.Wait()
			if len(errs)+len(next) != 0 {
				t.Fatalf("they do not wait: %v, %v", errs, next)
			}
			want := context.Canceled
			if how == "Close" {
				want = dewpond.ErrClosed
				p.Close()
			}
			cancel()
			synctest.Wait()
			if len(errs) != 1 || !errors.Is(errs[0], want) || len(next) != 1 || next[0] != nil {
				t.Errorf("%s: %v, and the next: %v", how, errs, next)
			}
			q.Put(b)
			q.Trim()
			if used := budget.Used(); used != 0 {
				t.Errorf("Used %d", used)
			}
			c, err := p.TryGet(1024)
			if how == "context" && err != nil {
				t.Errorf("AllocRate, of which nothing was used: %v", err)
			}
			p.Put(c)
		})
	}
}

// Many that want slices above the largest class, with and without waiting, never have
// more together than the Budget.
func TestBudgetOfOversizeIsNeverExceeded(t *testing.T) {
	const limit = 100_000
	budget := dewpond.MustBudget("", limit)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 1024}, Budget: budget})
	rounds := 500
	if testing.Short() {
		rounds = 100
	}
	var wg go125.WaitGroup
	var has, most, got atomic.Int64
	for g := range 16 {
		wg.Go(func() {
			for i := range rounds {
				n := 1 + (g*7919+i*4001)%30_000
				var b []byte
				var err error
				switch i % 3 {
				case 0:
					b, err = p.TryGet(n)
				case 1:
					b, err = p.GetContext(t.Context(), n)
				case 2:
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(i)*time.Microsecond)
					b, err = p.GetContext(ctx, n)
					cancel()
				}
				if err != nil {
					continue
				}
				got.Add(1)
				charged := int64(cap(b))
				if now := has.Add(charged); now > limit {
					most.Store(now)
				}
				runtime.Gosched()
				has.Add(-charged)
				p.Put(b)
			}
		})
	}
	wg.Wait()
	p.Trim()
	if most.Load() > limit || budget.Used() != 0 || dewpond.Claims(budget) != 0 || got.Load() == 0 {
		t.Errorf("%d bytes at once; Used %d, %d claims; %d were served", most.Load(), budget.Used(), dewpond.Claims(budget), got.Load())
	}
}

// What Get and all that is built on it take past the Budget is let go when it comes
// back, and nothing is kept as long as more is charged than the limit.
func TestPutLetsGoWhatGetTookPastBudget(t *testing.T) {
	const limit = 1 << 20
	rounds := 40
	if testing.Short() {
		rounds = 10
	}
	ways := map[string]func(p *dewpond.BytePool) (give func()){
		"Get": func(p *dewpond.BytePool) func() {
			b := p.Get(500 << 10)
			return func() { p.Put(b) }
		},
		"small Get": func(p *dewpond.BytePool) func() {
			var out [][]byte
			for range 100 {
				out = append(out, p.Get(4096))
			}
			return func() {
				for _, b := range out {
					p.Put(b)
				}
			}
		},
		"Get above the largest class": func(p *dewpond.BytePool) func() {
			b := p.Get(1<<20 + 1)
			return func() { p.Put(b) }
		},
		"Buffer": func(p *dewpond.BytePool) func() {
			b := p.Buffer()
			b.Write(make([]byte, 500<<10))
			return b.Release
		},
		"large Buffer": func(p *dewpond.BytePool) func() {
			b := p.Buffer()
			b.Write(make([]byte, 500<<10))
			b.Write(make([]byte, 2<<20))
			return b.Release
		},
		"Scope": func(p *dewpond.BytePool) func() {
			s := p.Scope()
			for range 100 {
				s.Get(5000)
			}
			return s.Close
		},
		"Lease": func(p *dewpond.BytePool) func() {
			l := p.Lease(500 << 10)
			return func() { l.Release() }
		},
		"small Lease": func(p *dewpond.BytePool) func() {
			var out []dewpond.Lease
			for range 1000 {
				out = append(out, p.Lease(500))
			}
			return func() {
				for _, l := range out {
					l.Release()
				}
			}
		},
		"Append": func(p *dewpond.BytePool) func() {
			b := p.Append(p.Get(1000), make([]byte, 500<<10)...)
			return func() { p.Put(b) }
		},
		"Grow": func(p *dewpond.BytePool) func() {
			b := p.Grow(p.Get(1000), 500<<10)
			return func() { p.Put(b) }
		},
	}
	for name, way := range ways {
		for _, check := range []dewpond.CheckMode{dewpond.CheckOff, dewpond.CheckAll} {
			budget := dewpond.MustBudget("", limit)
			p := newPool(t, dewpond.BytePoolOptions{Budget: budget, Check: check})
			other := newPool(t, dewpond.BytePoolOptions{Budget: budget, Check: check})
			var back []func()
			for i := range rounds {
				back = append(back, way([]*dewpond.BytePool{p, other}[i%2]))
			}
			full := budget.Used()
			if full < 3*limit {
				t.Errorf("%s: Used %d: this shows nothing", name, full)
			}
			for _, give := range back {
				idle := p.Stats().IdleBytes + other.Stats().IdleBytes
				give()
				if now := p.Stats().IdleBytes + other.Stats().IdleBytes; budget.Used() > limit && now > idle {
					t.Fatalf("%s: Used %d, and %d bytes more were kept", name, budget.Used(), now-idle)
				}
			}
			if used := budget.Used(); used > limit {
				t.Errorf("%s: Used %d after all is back", name, used)
			}
			p.Trim()
			other.Trim()
			if used := budget.Used(); used != 0 {
				t.Errorf("%s: Used %d after Trim", name, used)
			}
		}
	}
}

// After Close a Put is counted as that, overdrawn or not.
func TestPutAfterCloseOfOverdrawnBudget(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: dewpond.MustBudget("", 1024)})
	a, b := p.Get(1), p.Get(1)
	p.Close()
	p.Put(a)
	p.Put(b)
	if s := p.Stats(); s.Dropped.Closed != 2 || s.Dropped.Full != 0 || s.InUseBytes != 0 {
		t.Errorf("Dropped.Closed %d, Dropped.Full %d, InUseBytes %d", s.Dropped.Closed, s.Dropped.Full, s.InUseBytes)
	}
}

// A Get of more than any memory is not counted, nor charged.
func TestImpossibleGetIsNotCounted(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		made(t)
		t.Skip("make takes any size, and the program ends where there is no such memory")
	}
	for _, budget := range []*dewpond.Budget{nil, dewpond.MustBudget("", 1<<20), dewpond.MustBudget("", math.MaxInt64)} {
		p := newPool(t, dewpond.BytePoolOptions{Budget: budget})
		b := p.Get(64)
		for name, get := range map[string]func(){
			"Get":        func() { p.Get(math.MaxInt) },
			"TryGet":     func() { p.TryGet(math.MaxInt - 64) },
			"GetContext": func() { p.GetContext(t.Context(), math.MaxInt-64) },
			"Grow":       func() { p.Grow(nil, math.MaxInt) },
		} {
			before := p.Stats()
			refused := name == "TryGet" || name == "GetContext"
			if panicked := panics(get) != ""; panicked == refused {
				t.Errorf("%s: panicked %v", name, panicked)
			}
			s := p.Stats().Sub(before)
			if s.Gets != 0 || s.Oversize != 0 || s.OverBudget != 0 {
				t.Errorf("%s: Gets %d, Oversize %d, OverBudget %d", name, s.Gets, s.Oversize, s.OverBudget)
			}
			if budget != nil && budget.Used() != 64 {
				t.Errorf("%s: Used %d", name, budget.Used())
			}
		}
		p.Put(b)
	}
}

// After Close also a Prewarm of nothing says so.
func TestPrewarmOfNothingAfterClose(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{})
	if err := p.Prewarm(64, 0); err != nil {
		t.Error(err)
	}
	p.Close()
	if err := p.Prewarm(64, 0); err != dewpond.ErrClosed {
		t.Error(err)
	}
}

// What any tool took past a Budget is the first to go when it comes back, whether somebody
// waits for such a block or not, and Stats say meanwhile how much is past it.
func TestWhatIsPastTheBudgetGoesFirst(t *testing.T) {
	const size = 8192
	tools := map[string]func(p *dewpond.BytePool) (giveBack func()){
		"Get": func(p *dewpond.BytePool) func() {
			b := p.Get(size)
			return func() { p.Put(b) }
		},
		"Append": func(p *dewpond.BytePool) func() {
			b := p.Append(nil, make([]byte, size)...)
			return func() { p.Put(b) }
		},
		"Grow": func(p *dewpond.BytePool) func() {
			b := p.Grow(nil, size)
			return func() { p.Put(b) }
		},
		"Buffer": func(p *dewpond.BytePool) func() {
			b := p.Buffer()
			b.Grow(size)
			return b.Release
		},
		"Lease": func(p *dewpond.BytePool) func() {
			l := p.Lease(size)
			return func() { l.Release() }
		},
		"Scope": func(p *dewpond.BytePool) func() {
			s := p.Scope()
			s.Get(size)
			return s.Close
		},
		"a chunk of a Scope": func(p *dewpond.BytePool) func() {
			s := p.Scope()
			s.Get(10)
			return s.Close
		},
	}
	for name, take := range tools {
		for _, waits := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, waits %v", name, waits), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					budget := dewpond.MustBudget("", 2*size)
					p := newPool(t, dewpond.BytePoolOptions{Classes: []int{size}, Budget: budget, IdleTimeout: dewpond.NoDecay})
					within := make([][]byte, 2)
					if err := p.GetBatch(t.Context(), within, size); err != nil {
						t.Fatal(err)
					}
					first, second := take(p), take(p)
					expect := func(after string, used, over, idle int64) {
						t.Helper()
						synctest.Wait()
						s := p.Stats()
						if s.Budget.Used != used*size || s.Budget.Excess != over*size || s.IdleBytes != idle*size || s.Budget.Limit != 2*size || budget.Used() != s.Budget.Used {
							t.Errorf("after %s %d bytes are used, %d past the Budget, %d idle; want %d, %d and %d blocks", after,
								s.Budget.Used, s.Budget.Excess, s.IdleBytes, used, over, idle)
						}
					}
					expect("two past the Budget", 4, 2, 0)
					served := false
					if waits {
						go func() {
							b, err := p.GetContext(t.Context(), size)
							if err != nil {
								t.Error(err)
							}
							served = true
							p.Put(b)
						}()
						synctest.Wait()
					}
					first()
					expect("the first came back", 3, 1, 0)
					second()
					expect("the second came back", 2, 0, 0)
					if served {
						t.Error("a waiter got what was taken past the Budget")
					}
					if p.Stats().Dropped.Full != 2 {
						t.Errorf("%d were let go", p.Stats().Dropped.Full)
					}
					p.Put(within[0])
					synctest.Wait()
					if served != waits {
						t.Error("the waiter did not get what was within the Budget")
					}
					p.Put(within[1])
					expect("all came back", 2, 0, 2)
				})
			})
		}
	}
}

// A slice above the largest class is past the Budget as long as it is out.
func TestLargeSlicesPastTheBudget(t *testing.T) {
	budget := dewpond.MustBudget("", 4096)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget})
	b := p.Get(10_000)
	if s := p.Stats(); s.Budget.Excess != 10_000-4096 || s.OverBudget != 1 {
		t.Errorf("%+v", s)
	}
	p.Put(b)
	if s := p.Stats(); s.Budget.Excess != 0 || budget.Used() != 0 {
		t.Errorf("%+v", s)
	}
}

// A Budget has a name of its own for as long as it may have pools.
func TestBudgetNames(t *testing.T) {
	open := func(budget *dewpond.Budget) (*dewpond.BytePool, string) {
		p := newPool(t, dewpond.BytePoolOptions{Budget: budget})
		return p, p.Stats().Budget.Name
	}
	name := t.Name()
	first, second := dewpond.MustBudget(name, 1), dewpond.MustBudget(name, 1) // no pool yet
	p, a := open(first)
	q, b := open(first)
	_, c := open(second)
	if a != name || b != name || c != name+"-2" {
		t.Errorf("%q, %q and %q", a, b, c)
	}
	p.Close()
	if _, d := open(dewpond.MustBudget(name, 1)); d != name+"-3" {
		t.Errorf("the third is %q", d)
	}
	q.Close() // the last of the first Budget
	if _, e := open(dewpond.MustBudget(name, 1)); e != name {
		t.Errorf("the name of a Budget whose pools are closed is not free: %q", e)
	}
	if _, f := open(dewpond.MustBudget("", 1)); !strings.HasPrefix(f, "budget") {
		t.Errorf("without a name it is %q", f)
	}
}

// A Budget says who it is and how full it is, in words, and Stats say the same.
func TestBudgetInWords(t *testing.T) {
	named := dewpond.MustBudget("frames", 4096)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: named})
	q := newPool(t, dewpond.BytePoolOptions{Classes: []int{64}, Budget: named})
	b := p.Get(1000)
	var none *dewpond.Budget
	for _, tt := range []struct{ got, want string }{
		{named.String(), `Budget "frames": 1024 of 4096 bytes used`},
		{fmt.Sprintf("%v", dewpond.BytePoolOptions{Budget: named}.Budget), named.String()},
		{none.String(), "no Budget"},
		{panics(func() { dewpond.MustBudget("frames", 0) }), `dewpond: NewBudget("frames", 0): give a number of bytes above 0`},
	} {
		if tt.got != tt.want {
			t.Errorf("%q, want %q", tt.got, tt.want)
		}
	}
	before := q.Stats()
	if before.Budget.Name != "frames" || before.Budget.Used != 1024 || before.Budget.Limit != 4096 || before.Budget.Excess != 0 {
		t.Errorf("%+v", before)
	}
	big := q.Get(5000)
	if s := q.Stats().Sub(before); s.Budget.Name != "frames" || s.Budget.Used != 1024+5000 || s.Budget.Limit != 4096 || s.Budget.Excess != 1024+5000-4096 {
		t.Errorf("Sub takes off what a Budget has now: %+v", s)
	}
	q.Put(big)
	p.Put(b)
	without := newPool(t, dewpond.BytePoolOptions{})
	if s := without.Stats(); s.Budget.Name != "" || s.Budget.Limit != 0 || s.Budget.Used != 0 || s.Budget.Excess != 0 {
		t.Errorf("without a Budget: %+v", s)
	}
}

// exhaust takes all of a pool's Budget and loses it.
func exhaust(p *dewpond.BytePool, size int) (lost int) {
	for {
		if _, err := p.TryGet(size); err != nil {
			return lost
		}
		lost++
	}
}

// A waiter for bytes that all are lost starts the collection that finds them, if none comes.
func TestWaitersCollectWhatIsLost(t *testing.T) {
	onlyOnHeap(t, "off the heap no collection finds what is lost")
	notWatched(t, misuses)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	p := newPool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", 64<<10), Check: dewpond.CheckOff})
	exhaust(p, 4096)
	b, err := p.GetContext(context.Background(), 4096) // or this waits forever
	if err != nil {
		t.Error(err)
	}
	p.Put(b)
}

// One collection that finds many lost blocks starts few goroutines for those that wait.
func TestLostBlocksStartFewGoroutines(t *testing.T) {
	onlyOnHeap(t, "off the heap no collection finds what is lost")
	notWatched(t, misuses)
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	created := func() uint64 {
		s := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
		if metrics.Read(s); s[0].Value.Kind() != metrics.KindUint64 {
			t.Skip("Go has this metric from 1.26 on")
		}
		return s[0].Value.Uint64()
	}
	const blocks = 50_000
	p := newPool(t, dewpond.BytePoolOptions{Budget: dewpond.MustBudget("", blocks*64), Classes: []int{64, 1 << 20}, Check: dewpond.CheckOff})
	lost := exhaust(p, 64)
	before := created()
	b, err := p.GetContext(t.Context(), 3<<20) // almost all of it
	if err != nil {
		t.Error(err)
	}
	p.Put(b)
	if n := created() - before; n > uint64(lost/50) {
		t.Errorf("%d lost blocks started %d goroutines", lost, n)
	}
}
