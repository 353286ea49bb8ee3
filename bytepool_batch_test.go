package dewpond_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/misuse"
)

// noneOf fails the test if an element of a batch that was refused is not nil.
func noneOf(t *testing.T, blocks [][]byte) {
	t.Helper()
	for i, b := range blocks {
		if b != nil {
			t.Errorf("of a batch that was refused element %d has %d bytes", i, len(b))
		}
	}
}

func TestGetBatch(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 256, 64 << 10}})
	for _, n := range []int{0, 1, 64, 100, 64 << 10, 64<<10 + 1} {
		blocks := make([][]byte, 5)
		blocks[2] = []byte("what was there before is not put back")
		if err := p.GetBatch(t.Context(), blocks, n); err != nil {
			t.Fatal(err)
		}
		distinct := map[uintptr]bool{}
		for i, b := range blocks {
			one := p.Get(n)
			if len(b) != n || cap(b) != cap(one) || b == nil {
				t.Errorf("element %d for %d bytes: len %d, cap %d, want a cap of %d", i, n, len(b), cap(b), cap(one))
			}
			p.Put(one)
			for _, x := range b[:cap(b)] {
				if x != 0 {
					t.Fatalf("element %d has bytes of an earlier owner's", i)
				}
			}
			for j := range b[:cap(b)] {
				b[:cap(b)][j] = 7
			}
			if cap(b) > 0 {
				distinct[addressOf(b)] = true
			}
		}
		if len(distinct) != 5 && cap(blocks[0]) > 0 {
			t.Errorf("%d blocks for 5 elements of %d bytes", len(distinct), n)
		}
		putAll(p, blocks)
	}
	if s := p.Stats(); s.InUseBytes != 0 || s.Gets != s.Puts || s.Refused != 0 || s.Dropped.Foreign != 0 {
		t.Errorf("%+v", s)
	}
}

// Without elements nothing is asked of the pool, whatever its state; a negative size panics
// all the same.
func TestGetBatchOfNothing(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Name: "p", AllocRate: 1, Budget: dewpond.MustBudget("", 1)})
	p.Close()
	if err := p.GetBatch(t.Context(), nil, 100); err != nil {
		t.Error(err)
	}
	if err := p.GetBatch(t.Context(), [][]byte{}, 100<<20); err != nil {
		t.Error(err)
	}
	if text := panics(func() { p.GetBatch(t.Context(), nil, -1) }); text != `dewpond: GetBatch(-1) on pool "p": the size is negative` {
		t.Errorf("panics with %q", text)
	}
	blocks := [][]byte{{1}, {2}}
	if err := p.GetBatch(t.Context(), blocks, 1); err != dewpond.ErrClosed {
		t.Errorf("after Close: %v", err)
	}
	noneOf(t, blocks)
	if s := p.Stats(); s.Gets != 0 || s.Refused != 0 {
		t.Errorf("%+v", s)
	}
}

// What can never be is refused at once, and takes nothing.
func TestGetBatchThatCanNeverBe(t *testing.T) {
	synctest.Test(t, testGetBatchThatCanNeverBe) // in which AllocRate allows no more
}

func testGetBatchThatCanNeverBe(t *testing.T) {
	budget := dewpond.MustBudget("", 8192)
	p := newPool(t, dewpond.BytePoolOptions{Name: "p", Classes: []int{1024, 4096}, Budget: budget})
	limited := newPool(t, dewpond.BytePoolOptions{Name: "limited", Classes: []int{1024}, AllocRate: 4})
	p.Put(p.Get(1024))
	for i, tt := range []struct {
		p    *dewpond.BytePool
		k, n int
		text string
	}{
		{p, 9, 1000, `9 blocks of 1024 bytes for pool "p" are more than its Budget of 8192`},
		{p, 3, 4096, `3 blocks of 4096 bytes`},
		{p, 2, 5000, `2 blocks of 5000 bytes`},
		{p, 3, math.MaxInt, `bytes for pool "p"`},
		{limited, 5, 1, `of 5 blocks for pool "limited" not all are idle`},
	} {
		blocks := make([][]byte, tt.k)
		err := tt.p.GetBatch(t.Context(), blocks, tt.n)
		if !errors.Is(err, dewpond.ErrExhausted) || !strings.Contains(err.Error(), tt.text) {
			t.Errorf("%d: %v, want %q", i, err, tt.text)
		}
		noneOf(t, blocks)
	}
	if s := p.Stats(); s.Refused != 4 || s.InUseBytes != 0 || budget.Used() != 1024 || s.IdleBytes != 1024 {
		t.Errorf("%+v", s)
	}
	all := make([][]byte, 5)
	if err := limited.GetBatch(t.Context(), all[:4], 1); err != nil {
		t.Error(err)
	}
	all[4] = limited.Get(1)
	putAll(limited, all)
	if err := limited.GetBatch(t.Context(), all, 1); err != nil { // all are idle
		t.Error(err)
	}
	putAll(limited, all)
	if s := limited.Stats(); s.Refused != 1 || s.InUseBytes != 0 || s.Misses != 5 {
		t.Errorf("%+v", s)
	}
}

// A batch finds what is idle anywhere, in any shard and as any class of any pool of the
// Budget, whether its context is done or not.
func TestGetBatchFindsWhatIsIdle(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	budget := dewpond.MustBudget("", 1<<20)
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget})
	other := newPool(t, dewpond.BytePoolOptions{Classes: []int{2048}, Budget: budget})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for round := range 20 {
		all := make(chan []byte, 1024)
		for range 512 {
			all <- p.Get(1024)
		}
		for range 256 {
			all <- other.Get(2048)
		}
		close(all)
		var wg go125.WaitGroup
		for range 8 {
			wg.Go(func() {
				for b := range all {
					if cap(b) == 1024 {
						p.Put(b)
					} else {
						other.Put(b)
					}
					runtime.Gosched()
				}
			})
		}
		wg.Wait()
		blocks := make([][]byte, 1024-round)
		if err := p.GetBatch(ended, blocks, 1024); err != nil {
			t.Fatalf("round %d: %v; %d and %d bytes are idle", round, err, p.Stats().IdleBytes, other.Stats().IdleBytes)
		}
		more := make([][]byte, round+1)
		if err := p.GetBatch(ended, more, 1024); !errors.Is(err, context.Canceled) {
			t.Errorf("past the Budget: %v", err)
		}
		noneOf(t, more)
		putAll(p, blocks)
	}
	if s := p.Stats(); s.Gets != s.Puts || s.OverBudget != 0 || s.Waits != 0 {
		t.Errorf("%+v", s)
	}
}

// Batches and single blocks of any pools of a Budget are served in the order in which they
// came: what the first collects is not overtaken by a smaller one.
func TestGetBatchServesInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		budget := dewpond.MustBudget("", 8<<10)
		a := newPool(t, dewpond.BytePoolOptions{Name: "a", Classes: []int{1024}, Budget: budget})
		b := newPool(t, dewpond.BytePoolOptions{Name: "b", Classes: []int{512, 2048}, Budget: budget})
		out := make([][]byte, 8)
		if err := a.GetBatch(t.Context(), out, 1024); err != nil {
			t.Fatal(err)
		}
		order := make(chan string, 10)
		wait := func(name string, p *dewpond.BytePool, k, n int) {
			go func() {
				blocks := make([][]byte, k)
				if err := p.GetBatch(t.Context(), blocks, n); err != nil {
					t.Error(err)
				}
				order <- name
				time.Sleep(time.Second)
				putAll(p, blocks)
			}()
			synctest.Wait()
		}
		wait("all of a", a, 8, 1000)
		wait("one of b", b, 1, 512)
		wait("all of b", b, 4, 2048)
		wait("above the classes", b, 3, 2500)
		wait("some of a", a, 3, 1024)
		for i, block := range out {
			if len(order) != 0 {
				t.Errorf("%q was served after %d Puts", <-order, i)
			}
			if _, err := b.TryGet(512); !errors.Is(err, dewpond.ErrExhausted) {
				t.Errorf("TryGet overtook: %v", err)
			}
			a.Put(block)
			synctest.Wait()
		}
		time.Sleep(10 * time.Second)
		for _, want := range []string{"all of a", "one of b", "all of b", "above the classes", "some of a"} {
			if got := <-order; got != want {
				t.Errorf("%q was served where it was the turn of %q", got, want)
			}
		}
		s := a.Stats()
		if s.InUseBytes != 0 || s.Puts != s.Gets || s.Misses > 8+3 || b.Stats().InUseBytes != 0 {
			t.Errorf("%+v", s)
		}
	})
}

// A batch that waits in a pool reuses what is put back, all of it.
func TestGetBatchReusesWhatComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: dewpond.MustBudget("", 8<<10)})
		out := make([][]byte, 8)
		p.GetBatch(t.Context(), out, 1024)
		done := make(chan [][]byte)
		go func() {
			blocks := make([][]byte, 8)
			if err := p.GetBatch(t.Context(), blocks, 1024); err != nil {
				t.Error(err)
			}
			done <- blocks
		}()
		synctest.Wait()
		putAll(p, out)
		blocks := <-done
		if s := p.Stats(); s.Misses != 8 || s.Hits != 8 || s.Dropped.Full != 0 || s.Waits != 1 {
			t.Errorf("%+v", s)
		}
		putAll(p, blocks)
	})
}

// Whatever goes wrong on the way, no block is lost, and no element is left.
func TestGetBatchLosesNothing(t *testing.T) {
	notWatched(t, "its blocks are an Allocator's that fails and panics")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // so that it finds both idle blocks at once, and not where a third Alloc fails
	for _, limit := range []int64{0, 64 << 10} {
		source := &scriptedSource{meter: new(meter)}
		o := dewpond.BytePoolOptions{Classes: []int{1024}, Memory: source, AllocRate: 8, IdleTimeout: dewpond.NoDecay}
		if limit > 0 {
			o.Budget = dewpond.MustBudget("", limit)
		}
		synctest.Test(t, func(t *testing.T) {
			p := newPool(t, o)
			p.Prewarm(1024, 2)
			blocks := make([][]byte, 6)
			for _, way := range []string{"fails", "panics"} {
				source.at, source.panics = 3, way == "panics"
				var err error
				text := panics(func() { err = p.GetBatch(t.Context(), blocks, 1024) })
				if way == "fails" && !errors.Is(err, errNoMemory) || way == "panics" && text != "Alloc" {
					t.Errorf("an Allocator that %s: %v, %s", way, err, text)
				}
				noneOf(t, blocks)
				if s := p.Stats(); s.InUseBytes != 0 || s.Gets != s.Puts || s.IdleBytes != source.bytes.Load() {
					t.Errorf("an Allocator that %s: %+v, of %d bytes", way, s, source.bytes.Load())
				}
				p.Trim()
				time.Sleep(time.Second) // AllocRate has allowed some of them
				p.Prewarm(1024, 2)
			}
			source.at = 0
			if err := p.GetBatch(t.Context(), blocks, 1024); err != nil { // it has not taken misses for what it could not make
				t.Error(err)
			}
			putAll(p, blocks)
			p.Trim()
			if o.Budget != nil && o.Budget.Used() != 0 || source.bytes.Load() != 0 {
				t.Errorf("%v, and %d bytes were not freed", o.Budget, source.bytes.Load())
			}
		})
	}
}

// A scriptedSource fails or panics at one of the next Allocs.
type scriptedSource struct {
	*meter
	at     int // 0: never
	panics bool
}

func (s *scriptedSource) Alloc(size int) ([]byte, error) {
	if s.at > 0 {
		if s.at--; s.at == 0 {
			if s.panics {
				panic("Alloc")
			}
			return nil, errNoMemory
		}
	}
	return s.meter.Alloc(size)
}

// A slice that no memory is large enough for is refused, as by TryGet, and is not charged.
func TestGetBatchTooLargeForMemory(t *testing.T) {
	if math.MaxInt == math.MaxInt32 {
		t.Skip("32 bits have memory for the largest size that an int can ask for")
	}
	budget := dewpond.MustBudget("", math.MaxInt64)
	p := newPool(t, dewpond.BytePoolOptions{Budget: budget})
	blocks := make([][]byte, 3)
	if err := p.GetBatch(t.Context(), blocks, math.MaxInt/4); !strings.Contains(fmt.Sprint(err), fmt.Sprintf("a slice of %d bytes for pool %q", math.MaxInt/4, p.Name())) {
		t.Error(err)
	}
	noneOf(t, blocks)
	if s := p.Stats(); budget.Used() != 0 || s.Gets != 0 {
		t.Errorf("%v, %+v", budget, s)
	}
}

// A small batch of idle blocks allocates nothing.
func TestGetBatchAllocations(t *testing.T) {
	notWatched(t, countsAlloc)
	p := newPool(t, dewpond.BytePoolOptions{IdleTimeout: dewpond.NoDecay})
	blocks := make([][]byte, 8)
	ctx := t.Context()
	round := func() {
		if err := p.GetBatch(ctx, blocks, 1000); err != nil {
			t.Error(err)
		}
		putAll(p, blocks)
	}
	if n := allocsPerRun(100, round); n != 0 && !sanitized {
		t.Errorf("%v allocations", n)
	}
}

// What a call has waited for is counted with the calls that slept, on a clock of any bubble.
func TestWaitsAreCounted(t *testing.T) {
	limited := newObjects(t, dewpond.PoolOptions[account]{MaxOut: 1})
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: dewpond.MustBudget("", 2048)})
	for range 3 {
		synctest.Test(t, func(t *testing.T) {
			before, objectsBefore := p.Stats(), limited.Stats()
			blocks := make([][]byte, 2)
			p.GetBatch(t.Context(), blocks, 1000)
			v := limited.Get()
			for i := range 3 {
				go func() {
					b, err := p.GetContext(t.Context(), 1)
					if err != nil {
						t.Error(err)
					}
					p.Put(b)
				}()
				go func() {
					v, err := limited.GetContext(t.Context())
					if err != nil {
						t.Error(err)
					}
					limited.Put(v)
				}()
				synctest.Wait()
				time.Sleep(time.Second * time.Duration(i))
			}
			ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
			defer cancel()
			if err := p.GetBatch(ctx, make([][]byte, 2), 1); !errors.Is(err, context.DeadlineExceeded) {
				t.Error(err)
			}
			putAll(p, blocks)
			limited.Put(v)
			synctest.Wait()
			if s := p.Stats().Sub(before); s.Waits != 4 || s.WaitDuration != (7+7+6+4)*time.Second {
				t.Errorf("%d slept for %v", s.Waits, s.WaitDuration)
			}
			if s := limited.Stats().Sub(objectsBefore); s.Waits != 3 || s.WaitDuration != (7+7+6)*time.Second {
				t.Errorf("%d slept for %v in a Pool", s.Waits, s.WaitDuration)
			}
			if _, err := p.GetContext(ctx, 1<<20); err == nil {
				t.Error("a block larger than the Budget")
			}
			if s := p.Stats().Sub(before); s.Waits != 4 {
				t.Errorf("a refusal is counted as a wait")
			}
		})
	}
}

// Goroutines that hold nothing while they wait are all served, whatever they ask for: batches
// of several classes of several pools of one Budget, single blocks and large ones, beside
// calls that give up, Trims and changes of GOMAXPROCS.
func TestGetBatchUnderStress(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, allocLimit := range []int{0, 1e5} {
		t.Run(fmt.Sprint("AllocRate=", allocLimit), func(t *testing.T) { stressBatches(t, allocLimit) })
	}
}

func stressBatches(t *testing.T, allocLimit int) {
	budget := dewpond.MustBudget("", 256<<10)
	var pools []*dewpond.BytePool
	for i, o := range []dewpond.BytePoolOptions{
		{Classes: []int{64, 1024, 8192}},
		{Classes: []int{1024, 32 << 10}, AllocRate: allocLimit},
		{Classes: []int{512, 16 << 10}, MaxIdleBytes: dewpond.NoIdle},
		{Classes: []int{2048}, AllocRate: allocLimit, MaxIdlePerClass: 2},
	} {
		o.Name, o.Budget, o.IdleTimeout = fmt.Sprint(t.Name(), i), budget, -1
		pools = append(pools, newPool(t, o))
	}
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	if *long {
		rounds *= 50
	}
	const goroutines = 64
	var wg go125.WaitGroup
	var served, cancelled atomic.Int64
	for g := range goroutines {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(12, uint64(g)))
			for range rounds {
				p := pools[rng.IntN(len(pools))]
				classes := p.Stats().Classes
				n := classes[rng.IntN(len(classes))].Size
				ctx, cancel := t.Context(), func() {}
				if rng.IntN(4) == 0 { // gives up while it waits, or before
					ctx, cancel = context.WithTimeout(ctx, time.Duration(rng.IntN(300))*time.Microsecond)
				}
				blocks := make([][]byte, 1+rng.IntN(8))
				var err error
				switch what := rng.IntN(32); {
				case what == 0:
					p.Trim()
					clear(blocks)
				case what == 1 && g == 0:
					runtime.GOMAXPROCS(1 + rng.IntN(8))
				case what < 8:
					blocks = blocks[:1]
					blocks[0], err = p.GetContext(ctx, n)
				case what < 10:
					err = p.GetBatch(ctx, blocks[:min(len(blocks), 4)], classes[len(classes)-1].Size+1) // above the classes
				default:
					if int64(len(blocks)*n) > budget.Limit() {
						blocks = blocks[:budget.Limit()/int64(n)]
					}
					err = p.GetBatch(ctx, blocks, n)
				}
				cancel()
				switch {
				case err == nil:
					served.Add(1)
				case errors.Is(err, context.DeadlineExceeded):
					cancelled.Add(1)
					noneOf(t, blocks)
				default:
					t.Errorf("%d of %d bytes: %v", len(blocks), n, err)
				}
				for _, b := range blocks {
					for i := range b {
						b[i] = byte(g)
					}
				}
				runtime.Gosched()
				for _, b := range blocks {
					for _, x := range b {
						if x != byte(g) {
							t.Errorf("a block of %d bytes has two owners", len(b))
							break
						}
					}
					p.Put(b)
				}
			}
		})
	}
	wg.Wait() // the stacks at the test's timeout show a goroutine that is stuck
	var waits uint64
	for _, p := range pools {
		p.Trim()
		s := p.Stats()
		waits += s.Waits
		if s.Gets != s.Puts || s.InUseBytes != 0 || s.IdleBytes != 0 || s.OverBudget != 0 {
			t.Errorf("%+v", s)
		}
	}
	t.Logf("%d served, %d given up, %d slept", served.Load(), cancelled.Load(), waits)
	if budget.Used() != 0 {
		t.Errorf("all is put back and let go: %v", budget)
	}
	if waits == 0 || cancelled.Load() == 0 {
		t.Error("nobody waited or gave up: this shows nothing")
	}
}

// Batches with deadlines of up to 3 ms are served, or refused when their time is up, whether
// AllocRate or a Budget is what they wait for and whatever panics meanwhile. All of them together
// never have more than the Budget.
func TestGetBatchWithDeadlines(t *testing.T) {
	notWatched(t, "its blocks are an Allocator's that panics")
	calls := int64(10_000)
	switch {
	case *long:
		calls = 1_500_000 // 10 million in all
	case testing.Short():
		calls = 1_000
	}
	for _, allocLimit := range []int{0, 1000, 20_000, 100_000} {
		for _, limit := range []int64{0, 32 << 10} {
			if allocLimit == 0 && limit == 0 {
				continue
			}
			t.Run(fmt.Sprintf("AllocRate=%d,Budget=%d", allocLimit, limit), func(t *testing.T) {
				o := dewpond.BytePoolOptions{Classes: []int{1024}, AllocRate: allocLimit, IdleTimeout: dewpond.NoDecay}
				if limit > 0 {
					o.Budget = dewpond.MustBudget("", limit)
				}
				batchesWithDeadlines(t, newPool(t, o), limit, calls)
				source := &moodySource{panicsInFree: true}
				o.Memory, o.Budget = source, nil
				if limit > 0 {
					o.Budget = dewpond.MustBudget("", limit)
				}
				p, err := makePool(o)
				if err != nil {
					t.Fatal(err)
				}
				batchesWithDeadlines(t, p, limit, min(calls, 100_000))
				if limit > 0 && source.most.Load() > limit {
					t.Errorf("there were %d bytes at once, of %d", source.most.Load(), limit)
				}
				panics(func() { p.Close() })
			})
		}
	}
}

func batchesWithDeadlines(t *testing.T, p *dewpond.BytePool, limit, calls int64) {
	var begun, served, inUse atomic.Int64
	var wg go125.WaitGroup
	for g := range 16 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(13, uint64(g)))
			for begun.Add(1) <= calls {
				blocks := make([][]byte, 1+rng.IntN(8))
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(rng.IntN(3000))*time.Microsecond)
				err := errors.New("it panicked")
				text := panics(func() { err = p.GetBatch(ctx, blocks, 1024) })
				cancel()
				if text != "" && text != "Alloc" && text != "Free" {
					t.Errorf("GetBatch panics: %s", text)
				}
				if err != nil {
					noneOf(t, blocks)
					continue
				}
				served.Add(1)
				if n := inUse.Add(int64(len(blocks)) * 1024); limit > 0 && n > limit {
					t.Errorf("%d bytes are in use, of %d", n, limit)
				}
				inUse.Add(-int64(len(blocks)) * 1024)
				for _, b := range blocks {
					panics(func() { p.Put(b) })
				}
				if rng.IntN(50) == 0 {
					panics(func() { p.Trim() }) // so that there are misses
				}
			}
		})
	}
	wg.Wait()
	if served.Load() == 0 || dewpond.Waiting(p) {
		t.Errorf("of %d calls %d were served; one waits: %v", calls, served.Load(), dewpond.Waiting(p))
	}
	if s := p.Stats(); s.InUseBytes != 0 || s.OverBudget != 0 {
		t.Errorf("all is put back: %+v", s)
	}
	panics(func() { p.Trim() })
	for p.Stats().IdleBytes != 0 { // what Free panicked for is freed all the same
		panics(func() { p.Trim() })
	}
	if limit > 0 && p.Stats().Budget.Used != 0 {
		t.Errorf("all is released, and %d bytes are charged", p.Stats().Budget.Used)
	}
}

// A batch of any size finds what is idle with other processors, also if its context is done.
func TestGetBatchNeedNotWait(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	done, cancel := context.WithCancel(t.Context())
	cancel()
	const idle = 64
	for _, n := range []int{1, 2} {
		for range 10 {
			p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: dewpond.MustBudget("", idle*1024), IdleTimeout: dewpond.NoDecay})
			all := make(chan []byte, idle)
			for range idle {
				all <- must(p.TryGet(1024))
			}
			close(all)
			var users go125.WaitGroup
			for range 8 {
				users.Go(func() {
					for b := range all {
						p.Put(b)
						runtime.Gosched()
					}
				})
			}
			users.Wait()
			for range idle / n {
				blocks := make([][]byte, n)
				if err := p.GetBatch(done, blocks, 1024); err != nil {
					t.Fatalf("GetBatch of %d with %d bytes idle: %v", n, p.Stats().IdleBytes, err)
				}
				defer func() {
					for _, b := range blocks {
						p.Put(b)
					}
				}()
			}
		}
	}
}

// A GetBatch that panics has given back all that it had: if a report panics, and if the
// context is nil.
func TestGetBatchPanics(t *testing.T) {
	onlyOnHeap(t, "off it what is written late faults")
	notWatched(t, misuses)
	for idle := 1; idle <= 4; idle++ {
		budget := dewpond.MustBudget("", 1<<20)
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, IdleTimeout: dewpond.NoDecay, Check: dewpond.CheckAll, Budget: budget,
			OnViolation: func(misuse.Violation) { panic("found") }}) // by no collection's tick, which would end the program
		var put [][]byte
		for range idle {
			put = append(put, p.Get(1024))
		}
		for _, b := range put {
			p.Put(b)
		}
		put[0][5] = 1
		blocks := make([][]byte, 5)
		if text := panics(func() { p.GetBatch(t.Context(), blocks, 1024) }); text != "found" {
			t.Fatalf("GetBatch panics with %q", text)
		}
		if s := p.Stats(); s.InUseBytes != 0 || slices.ContainsFunc(blocks, func(b []byte) bool { return b != nil }) {
			t.Errorf("of %d idle blocks, %d bytes are in use or the caller has a block", idle, s.InUseBytes)
		}
	}
	var noContext context.Context
	for n := 1; n <= 2; n++ {
		budget := dewpond.MustBudget("", 3*1024)
		p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1024}, Budget: budget})
		a, b := p.Get(1024), p.Get(1024)
		p.Put(p.Get(1024))
		blocks := make([][]byte, n+1)
		if text := panics(func() { p.GetBatch(noContext, blocks, 1024) }); text == "" {
			t.Errorf("GetBatch of %d with a nil context returns", n+1)
		}
		p.Put(a)
		p.Put(b)
		if s := p.Stats(); s.InUseBytes != 0 || dewpond.Waiting(p) {
			t.Errorf("after a batch of %d: %d bytes are in use, and one waits: %v", n+1, s.InUseBytes, dewpond.Waiting(p))
		}
	}
}
