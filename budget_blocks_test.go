package dewpond_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
)

// Slices of a class's size that were not charged are refused, and change nothing.
func TestBudgetRefusesStrangers(t *testing.T) {
	notWatched(t, putsForeign)
	budget := dewpond.MustBudget("", 1<<20)
	p := newPool(t, dewpond.BytePoolOptions{Budget: budget})
	for range 1024 {
		p.Put(make([]byte, 4096))
	}
	if s := p.Stats(); s.IdleBytes != 0 || s.DroppedForeign != 1024 || s.Puts != 1024 || budget.Used() != 0 {
		t.Errorf("IdleBytes %d, DroppedForeign %d, Puts %d, Used %d", s.IdleBytes, s.DroppedForeign, s.Puts, budget.Used())
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
	if budget.Used() != 1<<20 || s.InUseBytes != 1<<20 || s.IdleBytes != 0 || s.DroppedForeign != 1024+3*256 {
		t.Errorf("Used %d, InUseBytes %d, IdleBytes %d, DroppedForeign %d", budget.Used(), s.InUseBytes, s.IdleBytes, s.DroppedForeign)
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
			left = 2000 // the other is the Source's
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
	if s := p.Stats(); s.OverBudget != 1 || budget.Used() != 1_100_000 || s.OverBudgetBytes != 1_100_000-1<<20 {
		t.Errorf("Get past it: OverBudget %d, Used %d, OverBudgetBytes %d", s.OverBudget, budget.Used(), s.OverBudgetBytes)
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
		a := newPool(t, dewpond.BytePoolOptions{Name: "a", Classes: []int{1024}, Budget: budget, AllocLimit: 1000})
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
			p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget, AllocLimit: 1})
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
				t.Errorf("AllocLimit, of which nothing was used: %v", err)
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
	if s := p.Stats(); s.DroppedClosed != 2 || s.DroppedFull != 0 || s.InUseBytes != 0 {
		t.Errorf("DroppedClosed %d, DroppedFull %d, InUseBytes %d", s.DroppedClosed, s.DroppedFull, s.InUseBytes)
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
