package dewpond_test

import (
	"context"
	"errors"
	"runtime"
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
		{Classes: []int{256, 4096}, MaxIdleBytes: 8192, AllocLimit: 1e6},
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
		if s := a.Stats(); s.InUseBytes != 0 || s.IdleBytes != 0 || s.Puts != 4 || s.DroppedFull+s.Trimmed != 4 {
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
			large := newPool(t, dewpond.BytePoolOptions{Classes: []int{8192}, Budget: budget, AllocLimit: 1})
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
			if how == "context" { // what AllocLimit had allowed it is the next one's
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

// A Budget and an AllocLimit together: neither is taken from where the other refuses.
func TestBudgetWithAllocLimit(t *testing.T) {
	leavesOut(t, "the blocks that it counts")
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 4096)
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, AllocLimit: 6, IdleTimeout: dewpond.NoDecay})
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
		q := newPool(t, dewpond.BytePoolOptions{Classes: []int{512}, Budget: dewpond.MustBudget("", 1<<20), AllocLimit: 6})
		var got int
		for range 20 {
			if _, err := q.TryGet(512); err == nil {
				got++
			}
		}
		if got != 6 {
			t.Errorf("%d within AllocLimit", got)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 4096)
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, AllocLimit: 6})
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

// What the Source cannot give is not charged.
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
