package dewpond_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/internal/percpu"
)

func TestTryGetObeysAllocRate(t *testing.T) {
	leavesOut(t, "the blocks that it counts")
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 10})
		try := func(want int) {
			t.Helper()
			got := 0
			for range 100 {
				b, err := p.TryGet(100)
				switch {
				case err == nil && len(b) == 100:
					got++
				case !errors.Is(err, dewpond.ErrExhausted):
					t.Fatalf("TryGet: %v", err)
				}
			}
			if got != want {
				t.Errorf("%d of 100 TryGets allocated, want %d", got, want)
			}
		}
		try(10)
		try(0)
		time.Sleep(500 * time.Millisecond)
		try(5)
		time.Sleep(time.Hour)
		try(10) // no more than a second's worth is saved up
		s := p.Stats()
		if s.Misses != 25 || s.Gets != 25 || s.Refused != 375 || s.OverAllocRate != 0 {
			t.Errorf("Misses %d, Gets %d, Refused %d, OverAllocRate %d; want 25, 25, 375, 0", s.Misses, s.Gets, s.Refused, s.OverAllocRate)
		}
		for range 7 {
			p.Get(100)
		}
		if s := p.Stats(); s.Misses != 32 || s.OverAllocRate != 7 {
			t.Errorf("after 7 Gets: Misses %d, OverAllocRate %d; want 32 and 7", s.Misses, s.OverAllocRate)
		}
	})
}

// Blocks that were put back on other processors are found before TryGet refuses,
// at any GOMAXPROCS and however the pool is used meanwhile.
func TestTryGetFindsEveryIdleBlock(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	const blocks = 300
	p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1})
	if err := p.Prewarm(1000, blocks); err != nil {
		t.Fatal(err)
	}
	for range 20 {
		held := make(chan []byte, blocks+1)
		var wg go125.WaitGroup
		for range 30 {
			wg.Go(func() {
				for range blocks / 30 {
					b, err := p.TryGet(1000)
					if err != nil {
						t.Errorf("TryGet: %v, with idle blocks in the pool", err)
						return
					}
					runtime.Gosched()
					held <- b
				}
			})
		}
		wg.Wait()
		for i := 0; ; i++ { // all are out: from here on only AllocRate gives
			b, err := p.TryGet(1000)
			if err != nil {
				break
			}
			held <- b
			if i > 100 {
				t.Fatal("TryGet is not limited")
			}
			if len(held) == cap(held) {
				bigger := make(chan []byte, 2*cap(held))
				for len(held) > 0 {
					bigger <- <-held
				}
				held = bigger
			}
		}
		for range 30 {
			wg.Go(func() {
				for {
					select {
					case b := <-held:
						p.Put(b)
					default:
						return
					}
				}
			})
		}
		wg.Wait()
	}
}

func TestGetContextWaits(t *testing.T) {
	leavesOut(t, "the waiter's block")
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1})
		first, err := p.GetContext(t.Context(), 100)
		if err != nil {
			t.Fatal(err)
		}
		first[0] = 7
		got := make(chan []byte, 1)
		go func() {
			b, err := p.GetContext(t.Context(), 99)
			if err != nil {
				t.Error(err)
			}
			got <- b
		}()
		synctest.Wait()
		select {
		case <-got:
			t.Fatal("GetContext did not wait")
		default:
		}
		p.Put(first)
		b := <-got
		if &b[0] != &first[0] || len(b) != 99 || b[0] != 0 {
			t.Errorf("the waiter got len %d starting with %d, want 99 zeroed bytes of the block put back", len(b), b[0])
		}
		if s := p.Stats(); s.Hits != 1 || s.Misses != 1 || s.Puts != 1 || s.InUseBytes != 128 || s.Refused != 0 {
			t.Errorf("Hits %d, Misses %d, Puts %d, InUseBytes %d, Refused %d; want 1, 1, 1, 128, 0", s.Hits, s.Misses, s.Puts, s.InUseBytes, s.Refused)
		}
	})
}

func TestGetContextServesInOrder(t *testing.T) {
	leavesOut(t, "the waiters' blocks")
	for _, way := range []string{"Put", "AllocRate"} {
		t.Run(way, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1})
				const waiters = 50
				var out [waiters][]byte
				for i := range out {
					out[i] = p.Get(100)
				}
				order := make(chan int, waiters)
				start := time.Now()
				for i := range waiters {
					go func() {
						if _, err := p.GetContext(t.Context(), 100); err != nil {
							t.Error(err)
						}
						order <- i
					}()
					synctest.Wait() // it is in the queue
				}
				for want := range waiters {
					if way == "Put" {
						p.Put(out[want])
					}
					if got := <-order; got != want {
						t.Fatalf("waiter %d was served when it was the turn of %d", got, want)
					}
				}
				took := time.Since(start)
				if way == "Put" && took != 0 || way == "AllocRate" && took != waiters*time.Second {
					t.Errorf("all were served after %v", took)
				}
			})
		})
	}
}

// A Get that comes later must not take the block that a waiter will be given.
func TestWaiterIsNotOvertaken(t *testing.T) {
	leavesOut(t, "the waiter's block, and those of Gets past the limit")
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1})
		out := p.Get(100)
		var served atomic.Bool
		go func() {
			if _, err := p.GetContext(t.Context(), 100); err != nil {
				t.Error(err)
			}
			served.Store(true)
		}()
		synctest.Wait()
		time.Sleep(900 * time.Millisecond)
		for range 10 {
			if _, err := p.TryGet(100); err == nil {
				t.Error("TryGet overtook a waiter")
			}
			p.Get(100) // not from AllocRate
		}
		time.Sleep(101 * time.Millisecond)
		synctest.Wait()
		if !served.Load() {
			t.Error("the waiter did not get the second's miss")
		}
		p.Put(out)
	})
}

// Prewarm serves waiters, as a Put does.
func TestPrewarmServesWaiters(t *testing.T) {
	leavesOut(t, "the waiter's block, and the one that uses up the limit")
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1})
		p.Get(100)
		start := time.Now()
		done := make(chan error)
		go func() {
			_, err := p.GetContext(t.Context(), 100)
			done <- err
		}()
		synctest.Wait()
		if err := p.Prewarm(100, 1); err != nil {
			t.Fatal(err)
		}
		if err := <-done; err != nil || time.Since(start) != 0 {
			t.Errorf("served with %v after %v", err, time.Since(start))
		}
	})
}

// A pool that keeps nothing still hands what is put back to waiters.
func TestNoIdlePoolServesWaiters(t *testing.T) {
	leavesOut(t, "the waiter's block")
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1, MaxIdleBytes: dewpond.NoIdle})
		b := p.Get(100)
		start := time.Now()
		done := make(chan error)
		go func() {
			_, err := p.GetContext(t.Context(), 100)
			done <- err
		}()
		synctest.Wait()
		p.Put(b)
		if err := <-done; err != nil || time.Since(start) != 0 {
			t.Errorf("served with %v after %v", err, time.Since(start))
		}
	})
}

func TestGetContextOfManyClasses(t *testing.T) {
	leavesOut(t, "the waiters' blocks")
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1})
		small := p.Get(100)
		var got []string
		var mu sync.Mutex
		for _, size := range []int{1000, 100} {
			go func() {
				b, err := p.GetContext(t.Context(), size)
				mu.Lock()
				defer mu.Unlock()
				got = append(got, fmt.Sprint(cap(b), err))
			}()
			synctest.Wait()
		}
		p.Put(small) // for the second, though the first came earlier
		synctest.Wait()
		time.Sleep(time.Second)
		synctest.Wait()
		if want := "[128 <nil> 1024 <nil>]"; fmt.Sprint(got) != want {
			t.Errorf("served %v, want %v", got, want)
		}
	})
}

func TestGetContextCancelled(t *testing.T) {
	leavesOut(t, "the block that a cancelled Get found idle")
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1})
		out := p.Get(100)

		cancelled, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := p.GetContext(cancelled, 100); !errors.Is(err, context.Canceled) {
			t.Errorf("with a cancelled context: %v", err)
		}
		for range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
			if _, err := p.GetContext(ctx, 100); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("after the deadline: %v", err)
			}
			cancel()
		}
		if s := p.Stats(); s.Refused != 21 || s.Gets != 1 {
			t.Errorf("Refused %d, Gets %d; want 21 and 1", s.Refused, s.Gets)
		}
		// No trace: the next Put keeps its block, and the next Get has it.
		p.Put(out)
		if s := p.Stats(); s.IdleBytes != 128 {
			t.Errorf("IdleBytes %d after the waiters left, want 128", s.IdleBytes)
		}
		if b, err := p.GetContext(cancelled, 100); err != nil || &b[0] != &out[0] {
			t.Errorf("with an idle block the context does not matter, but GetContext returned %v", err)
		}
	})
}

// A doneContext is done without an error, as a careless implementation of Context may be.
type doneContext struct {
	context.Context
	done chan struct{}
}

func (c doneContext) Done() <-chan struct{} { return c.done }
func (doneContext) Err() error              { return nil }

// A Context that is done without an error ends a wait as one that is cancelled does.
func TestContextIsDoneWithoutAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		blocks := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: dewpond.MustBudget("", 2048)})
		objects := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 1})
		one, two, object := blocks.Get(1), blocks.Get(1), objects.Get()
		ctx := doneContext{t.Context(), make(chan struct{})}
		time.AfterFunc(time.Second, func() { close(ctx.done) })
		var waiting go125.WaitGroup
		for name, get := range map[string]func() error{
			"BytePool.GetContext": func() error { _, err := blocks.GetContext(ctx, 1); return err },
			"of a large slice":    func() error { _, err := blocks.GetContext(ctx, 1500); return err },
			"GetBatch":            func() error { return blocks.GetBatch(ctx, make([][]byte, 1), 1) },
			"Pool.GetContext":     func() error { _, err := objects.GetContext(ctx); return err },
		} {
			waiting.Go(func() {
				if err := get(); !errors.Is(err, context.Canceled) {
					t.Errorf("%s returns %v", name, err)
				}
			})
		}
		waiting.Wait()
		blocks.Put(one)
		blocks.Put(two)
		objects.Put(object)
		if s := objects.Stats(); s.OverAllocRate != 0 || s.InUseBytes != 0 || blocks.Stats().InUseBytes != 0 {
			t.Errorf("%+v", s)
		}
	})
}

func TestCloseEndsWaits(t *testing.T) {
	leavesOut(t, "the block that uses up the limit")
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1})
		p.Get(100)
		var closed atomic.Int64
		for i := range 30 {
			go func() {
				if _, err := p.GetContext(t.Context(), 100*(i%3+1)); err == dewpond.ErrClosed {
					closed.Add(1)
				}
			}()
		}
		synctest.Wait()
		p.Close()
		synctest.Wait()
		if closed.Load() != 30 {
			t.Errorf("%d of 30 waiters got ErrClosed", closed.Load())
		}
	})
}

// Many goroutines share few blocks, and some give up: no waiter sleeps while a block
// is idle, and no block is lost.
func TestGetContextUnderStress(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	const blocks = 8
	p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1})
	if err := p.Prewarm(100, blocks); err != nil {
		t.Fatal(err)
	}
	var out atomic.Int64
	var wg go125.WaitGroup
	for i := range 100 {
		wg.Go(func() {
			for j := range 200 {
				ctx, cancel := t.Context(), context.CancelFunc(func() {})
				if (i+j)%5 == 0 {
					ctx, cancel = context.WithTimeout(ctx, time.Duration(j)*time.Microsecond)
				}
				b, err := p.GetContext(ctx, 100)
				cancel()
				if err != nil {
					if ctx.Err() == nil {
						t.Errorf("GetContext: %v", err)
					}
					continue
				}
				out.Add(1)
				if j%7 == 0 {
					runtime.Gosched()
				}
				out.Add(-1)
				p.Put(b)
			}
		})
	}
	wg.Wait()
	s := p.Stats()
	if want := int64(blocks+s.Misses) * 128; s.IdleBytes != want || s.InUseBytes != 0 {
		t.Errorf("IdleBytes %d, InUseBytes %d; want %d and 0", s.IdleBytes, s.InUseBytes, want)
	}
	if got := p.Trim(); got != s.IdleBytes {
		t.Errorf("Trim released %d, want %d", got, s.IdleBytes)
	}
}

// A pool that was refused once goes back to its shards.
func TestPoolLeavesDirect(t *testing.T) {
	notWatched(t, seesDirect)
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1})
		b := p.Get(100)
		if _, err := p.TryGet(100); !errors.Is(err, dewpond.ErrExhausted) {
			t.Fatal(err)
		}
		if !dewpond.IsDirect(p) {
			t.Fatal("not in direct mode after a refusal")
		}
		time.Sleep(200 * time.Millisecond)
		mustLeaveDirect(t, p, func() {
			p.Put(b)
			b = p.Get(100)
		})
	})
}

// AllocRate limits allocations, not only what is counted: the Allocator is asked no
// more often, however many ask at once.
func TestAllocRateLimitsAllocations(t *testing.T) {
	leavesOut(t, "the blocks that it counts")
	synctest.Test(t, func(t *testing.T) {
		source := newFakeSource()
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 10, Memory: source})
		var wg go125.WaitGroup
		for range 50 {
			wg.Go(func() {
				p.TryGet(100)
				ctx, cancel := context.WithTimeout(t.Context(), 2050*time.Millisecond)
				defer cancel()
				p.GetContext(ctx, 100)
			})
		}
		wg.Wait()
		if out, _ := source.report(); out != 10+20 {
			t.Errorf("%d allocations in 2.05 seconds at 10 a second, and 10 saved up; want 30", out)
		}
	})
}

// Refused counts every error but ErrClosed, wherever it comes from.
func TestRefusedCountsWhatIsReturned(t *testing.T) {
	leavesOut(t, "the blocks that use up the limit")
	synctest.Test(t, func(t *testing.T) {
		source := &unreliable{fakeSource: newFakeSource()}
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1, Memory: source})
		want := uint64(0)
		refused := func(how string, err, wantErr error, count uint64) {
			t.Helper()
			want += count
			if got := p.Stats().Refused; !errors.Is(err, wantErr) || got != want {
				t.Errorf("%s: %v, Refused %d; want %v and %d", how, err, got, wantErr, want)
			}
		}
		source.failures.Store(2)
		_, err := p.TryGet(100)
		refused("TryGet without memory", err, errUnreliable, 1)
		_, err = p.GetContext(t.Context(), 100)
		refused("GetContext without memory", err, errUnreliable, 1)

		if _, err := p.TryGet(100); err != nil {
			t.Fatal(err)
		}
		_, err = p.TryGet(100)
		refused("TryGet at the limit", err, dewpond.ErrExhausted, 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		_, err = p.GetContext(ctx, 100)
		refused("GetContext until its deadline", err, context.DeadlineExceeded, 1)

		source.failures.Store(1)
		_, err = p.GetContext(t.Context(), 100)
		refused("GetContext that waits, then without memory", err, errUnreliable, 1)
		if _, err := p.TryGet(100); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error)
		go func() {
			_, err := p.GetContext(t.Context(), 100)
			ended <- err
		}()
		synctest.Wait()
		p.Close()
		refused("GetContext ended by Close", <-ended, dewpond.ErrClosed, 0)
		_, err = p.TryGet(100)
		refused("TryGet after Close", err, dewpond.ErrClosed, 0)
		_, err = p.GetContext(t.Context(), 100)
		refused("GetContext after Close", err, dewpond.ErrClosed, 0)
	})
}

// An Allocator without memory is no reason to refuse while a block lies idle, with whatever
// processor.
func TestFailedAllocationFindsIdle(t *testing.T) {
	needsThreads(t)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	elsewhere := !percpu.Pinned                         // the portable engine looks there before it asks the Allocator
	for round := 0; round < 50 || !elsewhere; round++ { // else the test runs into its timeout
		source := &unreliable{fakeSource: newFakeSource()}
		p := newPool(t, dewpond.BytePoolOptions{Memory: source})
		var held atomic.Bool
		go func() {
			hold(p, 1024, 4)
			held.Store(true)
		}()
		for !held.Load() { // and does not leave its P, so that another holds the blocks
		}
		source.failures.Store(1 << 20)
		for idle := blocks(p.Stats()); idle > 0; idle-- {
			b, err := p.TryGet(1024)
			if err != nil {
				t.Fatalf("TryGet with %d blocks idle: %v", idle, err)
			}
			defer p.Put(b)
		}
		elsewhere = elsewhere || source.failures.Load() < 1<<20 // the Allocator was asked, and then all Ps
		if _, err := p.TryGet(1024); !errors.Is(err, errUnreliable) {
			t.Fatalf("TryGet with nothing idle: %v", err)
		}
	}
}

// What the Allocator cannot serve is not counted against AllocRate: the next
// caller may allocate at once, and so may a waiter.
func TestFailedAllocationIsNotCounted(t *testing.T) {
	leavesOut(t, "the blocks that use up the limit")
	synctest.Test(t, func(t *testing.T) {
		source := &unreliable{fakeSource: newFakeSource()}
		source.failures.Store(5)
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 2, Memory: source})
		for range 5 {
			if _, err := p.TryGet(100); !errors.Is(err, errUnreliable) {
				t.Fatalf("TryGet: %v", err)
			}
		}
		for range 2 {
			if _, err := p.TryGet(100); err != nil {
				t.Fatalf("TryGet after failures: %v", err)
			}
		}
		if _, err := p.TryGet(100); !errors.Is(err, dewpond.ErrExhausted) {
			t.Fatalf("a third TryGet: %v", err)
		}

		// Two wait. The first is allowed to allocate in half a second and fails;
		// the second has its turn then and not half a second later.
		source.failures.Store(1)
		start := time.Now()
		var took [2]time.Duration
		var errs [2]error
		var wg go125.WaitGroup
		for i := range took {
			wg.Go(func() {
				_, errs[i] = p.GetContext(t.Context(), 100)
				took[i] = time.Since(start)
			})
			synctest.Wait()
		}
		wg.Wait()
		if errs[0] == nil || errs[1] != nil || took != [2]time.Duration{time.Second / 2, time.Second / 2} {
			t.Errorf("the waiters got %v after %v", errs, took)
		}
	})
}

// An unreliable source fails as often as it is told to.
type unreliable struct {
	*fakeSource
	failures atomic.Int64
}

var errUnreliable = errors.New("not now")

func (u *unreliable) Alloc(size int) ([]byte, error) {
	if u.failures.Add(-1) >= 0 {
		return nil, errUnreliable
	}
	return u.fakeSource.Alloc(size)
}

// A call whose context is done says which pool had nothing, and is both errors.
func TestWaitErrors(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errNoMemory)
	blocks := newPool(t, dewpond.BytePoolOptions{Name: "wanting", Budget: dewpond.MustBudget("", 1024), Classes: []int{1024}})
	objects := newObjects(t, dewpond.PoolOptions[account]{Name: "wanting", MaxOut: 1})
	slices := must(dewpond.NewSlicePool(dewpond.SlicePoolOptions[int64]{Name: "wanting", Budget: dewpond.MustBudget("", 1024), Classes: []int{128}}))
	defer slices.Close()
	b, v, s := blocks.Get(1024), objects.Get(), slices.Get(128)
	defer blocks.Put(b)
	defer objects.Put(v)
	defer slices.Put(s)
	for name, get := range map[string]func() error{
		"GetContext":           func() error { _, err := blocks.GetContext(ctx, 100); return err },
		"LeaseContext":         func() error { _, err := blocks.LeaseContext(ctx, 100); return err },
		"GetBatch":             func() error { return blocks.GetBatch(ctx, make([][]byte, 1), 100) },
		"Pool.GetContext":      func() error { _, err := objects.GetContext(ctx); return err },
		"SlicePool.GetContext": func() error { _, err := slices.GetContext(ctx, 100); return err },
	} {
		err := get()
		if !errors.Is(err, context.Canceled) || !errors.Is(err, dewpond.ErrExhausted) || !strings.Contains(fmt.Sprint(err), `pool "wanting`) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if strconv.IntSize == 32 {
		return // there each size might be had
	}
	if text := panics(func() { blocks.Get(1 << (strconv.IntSize - 4)) }); !strings.Contains(text, `pool "wanting"`) || !strings.Contains(text, "len out of range") {
		t.Errorf("Get of more than any memory: %s", text)
	}
}

// A length that no memory holds is refused with an error, in every call that can be refused, by a text that names the
// pool and the length. It is counted, and nothing is charged.
func TestImpossibleLengths(t *testing.T) {
	if strconv.IntSize == 32 {
		made(t)
		t.Skip("make takes any size, and the program ends where there is no such memory")
	}
	for _, tt := range []struct {
		name   string
		budget *dewpond.Budget
		limit  int
	}{{"free", nil, 0}, {"limited", nil, 1000}, {"bounded", dewpond.MustBudget("", 1<<20), 0}, {"endless", dewpond.MustBudget("", math.MaxInt64), 0}} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPool(t, dewpond.BytePoolOptions{Name: "bytes", Budget: tt.budget, AllocRate: tt.limit})
			words := newSlices(t, dewpond.SlicePoolOptions[uint64]{Name: "words", Budget: tt.budget, AllocRate: tt.limit})
			ctx := t.Context()
			scope, empty, begun := p.Scope(), p.TryBuffer(), p.TryBuffer()
			defer scope.Close()
			defer begun.Release()
			if err := begun.WriteByte('a'); err != nil {
				t.Fatal(err)
			}
			must(scope.TryGet(100))
			var used int64
			if tt.budget != nil {
				used = tt.budget.Used()
			}
			lengths := []int{math.MaxInt, math.MaxInt - 7, math.MaxInt / 2}
			if tt.name == "endless" { // less what is in use
				lengths = []int{math.MaxInt / 2, math.MaxInt / 4}
			}
			for _, n := range lengths {
				for name, call := range map[string]func() error{
					"TryGet":       func() error { _, err := p.TryGet(n); return err },
					"GetContext":   func() error { _, err := p.GetContext(ctx, n); return err },
					"GetBatch":     func() error { return p.GetBatch(ctx, make([][]byte, 1), n) },
					"LeaseContext": func() error { _, err := p.LeaseContext(ctx, n); return err },
					"Scope.TryGet": func() error { _, err := scope.TryGet(n); return err },
					"TryGrow":      func() error { return empty.TryGrow(n) },
				} {
					expectRefusal(t, name, n, p.Stats, call)
				}
				more := n
				if n <= math.MaxInt/2 {
					more -= begun.Len()
				}
				expectRefusal(t, "TryGrow of more", n, p.Stats, func() error { return begun.TryGrow(more) })
				for _, n := range []int{n, n / 8} {
					for name, call := range map[string]func() error{
						"SlicePool.TryGet":     func() error { _, err := words.TryGet(n); return err },
						"SlicePool.GetContext": func() error { _, err := words.GetContext(ctx, n); return err },
					} {
						expectRefusal(t, name, n, words.Stats, call)
					}
				}
			}
			if tt.budget != nil && tt.budget.Used() != used {
				t.Errorf("Used %d, want %d", tt.budget.Used(), used)
			}
			if empty.Len() != 0 || begun.String() != "a" {
				t.Errorf("the Buffers have %q and %q", empty, begun)
			}
			if err := words.Prewarm(math.MaxInt, 1); !strings.Contains(fmt.Sprint(err), "Prewarm("+huge+`, 1) on pool "words"`) {
				t.Errorf("SlicePool.Prewarm: %v", err)
			}
		})
	}
}

// expectRefusal ensures that a call for n bytes or elements is refused once, by an error that names the pool and the
// length, and that its Budget is named if that is the reason.
func expectRefusal(t *testing.T, name string, n int, stats func() dewpond.Stats, call func() error) {
	t.Helper()
	before := stats()
	var err error
	if text := panics(func() { err = call() }); text != "" {
		t.Errorf("%s(%d) panics with %q", name, n, text)
		return
	}
	text := fmt.Sprint(err)
	if !strings.Contains(text, fmt.Sprintf("pool %q", before.Name)) || !strings.Contains(text, fmt.Sprint(n)) && !errors.Is(err, dewpond.ErrExhausted) {
		t.Errorf("%s(%d): %v", name, n, err)
	}
	if never := strings.Contains(text, "its Budget of"); never != errors.Is(err, dewpond.ErrExhausted) {
		t.Errorf("%s(%d): %v", name, n, err)
	}
	if s := stats().Sub(before); s.Refused != 1 || s.Gets != 0 || s.Oversize != 0 {
		t.Errorf("%s(%d): %+v", name, n, s)
	}
}

// What is never refused panics, by a text that names the pool and the length.
func TestImpossibleLengthsPanic(t *testing.T) {
	if strconv.IntSize == 32 {
		made(t)
		t.Skip("make takes any size, and the program ends where there is no such memory")
	}
	p := newPool(t, dewpond.BytePoolOptions{Name: "bytes"})
	words := newSlices(t, dewpond.SlicePoolOptions[uint64]{Name: "words"})
	scope := p.Scope()
	defer scope.Close()
	const n = math.MaxInt / 8
	for name, call := range map[string]func(){
		"Get":            func() { p.Get(n) },
		"Grow":           func() { p.Grow(nil, n) },
		"Lease":          func() { p.Lease(n) },
		"Scope.Get":      func() { scope.Get(n) },
		"SlicePool.Get":  func() { words.Get(n) },
		"SlicePool.Grow": func() { words.Grow(nil, n) },
	} {
		text := panics(call)
		if !strings.Contains(text, `pool "bytes"`) && !strings.Contains(text, `pool "words"`) || !strings.Contains(text, fmt.Sprint(n)) {
			t.Errorf("%s panics with %q", name, text)
		}
	}
	if text := panics(func() { dewpond.ScopeSlice[uint64](scope, math.MaxInt) }); !strings.Contains(text, `pool "bytes"`) || !strings.Contains(text, huge) {
		t.Errorf("ScopeSlice panics with %q", text)
	}
	if s, w := p.Stats(), words.Stats(); s.Gets != 0 || s.InUseBytes != 0 || w.Gets != 0 {
		t.Errorf("%+v, %+v", s, w)
	}
}

// The error of a call that is refused at once names the pool. Where a block is more than the whole Budget, it says that.
func TestRefusalsNameThePool(t *testing.T) {
	budget := dewpond.MustBudget("", 4096)
	bounded := newPool(t, dewpond.BytePoolOptions{Name: "bounded", Classes: []int{4096}, Budget: budget})
	words := newSlices(t, dewpond.SlicePoolOptions[uint64]{Name: "words", Classes: []int{512}, Budget: budget})
	defer bounded.Put(bounded.Get(4096))
	objects := dewpond.MustPool(dewpond.PoolOptions[int]{Name: "objects", MaxOut: 1})
	defer objects.Close()
	defer objects.Put(objects.Get())
	scope, buffer := bounded.Scope(), bounded.TryBuffer()
	defer scope.Close()
	for name, tt := range map[string]struct {
		call   func() error
		pool   string
		always bool
	}{
		"TryGet":                   {func() error { _, err := bounded.TryGet(100); return err }, "bounded", false},
		"TryGet of more":           {func() error { _, err := bounded.TryGet(5000); return err }, "bounded", true},
		"TryGrow":                  {func() error { return buffer.TryGrow(100) }, "bounded", false},
		"TryGrow of more":          {func() error { return buffer.TryGrow(5000) }, "bounded", true},
		"WriteByte":                {func() error { return buffer.WriteByte('a') }, "bounded", false},
		"Scope.TryGet":             {func() error { _, err := scope.TryGet(100); return err }, "bounded", false},
		"Scope.TryGet of more":     {func() error { _, err := scope.TryGet(5000); return err }, "bounded", true},
		"SlicePool.TryGet":         {func() error { _, err := words.TryGet(100); return err }, "words", false},
		"SlicePool.TryGet of more": {func() error { _, err := words.TryGet(1000); return err }, "words", true},
		"GetContext of more":       {func() error { _, err := bounded.GetContext(t.Context(), 5000); return err }, "bounded", true},
		"GetBatch of more":         {func() error { return bounded.GetBatch(t.Context(), make([][]byte, 2), 100) }, "bounded", true},
		"Pool.TryGet":              {func() error { _, err := objects.TryGet(); return err }, "objects", false},
	} {
		err := tt.call()
		text := fmt.Sprint(err)
		if !errors.Is(err, dewpond.ErrExhausted) || errors.Is(err, dewpond.ErrClosed) || !strings.Contains(text, fmt.Sprintf("pool %q", tt.pool)) {
			t.Errorf("%s: %v", name, err)
		}
		if always := strings.Contains(text, "its Budget of 4096 will ever have"); always != tt.always || always == strings.Contains(text, "is exhausted") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, f := range map[string]func() error{
		"TryGet":      func() error { _, err := bounded.TryGet(100); return err },
		"Pool.TryGet": func() error { _, err := objects.TryGet(); return err },
	} {
		if n := allocsPerRun(100, func() { _ = errors.Is(f(), dewpond.ErrExhausted) }); n != 0 && !watched && !sanitized {
			t.Errorf("a refusal of %s makes %v allocations", name, n)
		}
	}
}
