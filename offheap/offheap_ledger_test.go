package offheap_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/arena"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/go125/synctest"
	"github.com/dewpond/dewpond/offheap"
)

// However a block was obtained, one Put of it is accepted and a second refused.
func TestSecondPutIsRefused(t *testing.T) {
	put := func(p *dewpond.BytePool) []byte {
		b := p.Get(100)
		p.Put(b)
		return b
	}
	ways := map[string]func(t *testing.T, p *dewpond.BytePool) []byte{
		"Get, a miss": func(t *testing.T, p *dewpond.BytePool) []byte { return p.Get(100) },
		"Get, a hit":  func(t *testing.T, p *dewpond.BytePool) []byte { put(p); return p.Get(100) },
		"Get, a large one": func(t *testing.T, p *dewpond.BytePool) []byte {
			p.Put(p.Get(1 << 20))
			return p.Get(1 << 20)
		},
		"TryGet, a miss": func(t *testing.T, p *dewpond.BytePool) []byte { return must(p.TryGet(100)) },
		"TryGet, a hit":  func(t *testing.T, p *dewpond.BytePool) []byte { put(p); return must(p.TryGet(100)) },
		"GetContext": func(t *testing.T, p *dewpond.BytePool) []byte {
			put(p)
			return must(p.GetContext(t.Context(), 100))
		},
		"Prewarm": func(t *testing.T, p *dewpond.BytePool) []byte {
			if err := p.Prewarm(100, 3); err != nil {
				t.Fatal(err)
			}
			return p.Get(100)
		},
		"Grow": func(t *testing.T, p *dewpond.BytePool) []byte { return p.Grow(p.Get(10), 100) },
		"Lease": func(t *testing.T, p *dewpond.BytePool) []byte {
			p.Put(p.Get(100))
			l := p.Lease(100)
			return l.Bytes()
		},
	}
	for name, way := range ways {
		for _, zero := range []dewpond.ZeroPolicy{dewpond.ZeroOnPut, dewpond.ZeroOnGet, dewpond.ZeroNever} {
			p := newPool(t, dewpond.BytePoolOptions{Name: name, Zero: zero}, offheap.Options{})
			b := way(t, p)
			b[0] = 1
			before := p.Stats()
			for i := range 3 {
				p.Put(b)
				if s := p.Stats(); s.Dropped.Double != before.Dropped.Double+uint64(i) || s.InUseBytes != 0 ||
					s.IdleBytes != before.IdleBytes+int64(cap(b)) || s.Puts != before.Puts+uint64(i)+1 {
					t.Errorf("%s, Put %d: Dropped.Double %d, InUseBytes %d, IdleBytes %d, Puts %d; before %+v",
						name, i+1, s.Dropped.Double, s.InUseBytes, s.IdleBytes, s.Puts, before)
				}
			}
			if got := p.Get(len(b)); zero != dewpond.ZeroNever && got[0] != 0 {
				t.Errorf("%s, policy %d: not zero", name, zero)
			}
		}
	}
}

// A waiter gets the block itself from a Put, and can put it back.
func TestWaiterOwnsItsBlock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPool(t, dewpond.BytePoolOptions{AllocRate: 1, IdleTimeout: dewpond.NoDecay}, offheap.Options{})
		b := must(p.TryGet(100))
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		got := make(chan []byte)
		go func() { got <- must(p.GetContext(ctx, 100)) }()
		synctest.Wait()
		p.Put(b)
		c := <-got
		if &b[0] != &c[0] {
			t.Fatal("another block")
		}
		p.Put(c)
		p.Put(c)
		if s := p.Stats(); s.Dropped.Double != 1 || s.InUseBytes != 0 || s.Hits != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// If goroutines put one block back at once, one is accepted, the others are counted,
// and the block never has two owners.
func TestRacingPuts(t *testing.T) {
	for _, o := range []dewpond.BytePoolOptions{
		{Name: "kept"},
		// The block is freed between the two. (Its span must not be, or a slice of it
		// would be foreign.)
		{Name: "dropped", MaxIdleBytes: dewpond.NoIdle, IdleTimeout: dewpond.NoDecay},
	} {
		t.Run(o.Name, func(t *testing.T) {
			p := newPool(t, o, offheap.Options{})
			rounds := 3000
			if testing.Short() {
				rounds = 300
			}
			const puts = 3
			for range rounds {
				b := p.Get(5000)
				start := make(chan struct{})
				var wg go125.WaitGroup
				for range puts {
					wg.Go(func() {
						<-start
						p.Put(b)
					})
				}
				close(start)
				wg.Wait()
				c, d := p.Get(5000), p.Get(5000)
				if &c[0] == &d[0] {
					t.Fatal("two owners")
				}
				p.Put(c)
				p.Put(d)
			}
			s := p.Stats()
			if s.Dropped.Double != uint64(rounds*(puts-1)) || s.InUseBytes != 0 || s.Dropped.Foreign != 0 || s.Puts != uint64(rounds*(puts+2)) {
				t.Errorf("Dropped.Double %d, want %d; InUseBytes %d, Dropped.Foreign %d, Puts %d",
					s.Dropped.Double, rounds*(puts-1), s.InUseBytes, s.Dropped.Foreign, s.Puts)
			}
		})
	}
}

// TestRacingPutsInStep does the same with many blocks, through which goroutines go in
// step, so that at some they meet within the few instructions of one Put and another.
func TestRacingPutsInStep(t *testing.T) {
	for _, size := range []int{64, 5000} {
		p := newPool(t, dewpond.BytePoolOptions{Zero: dewpond.ZeroNever}, offheap.Options{})
		const goroutines, rounds = 2, 60
		blocks := make([][]byte, 2000)
		for round := range rounds {
			for i := range blocks {
				blocks[i] = p.Get(size)
			}
			var ready atomic.Int64
			var wg go125.WaitGroup
			for range goroutines {
				wg.Go(func() {
					for ready.Add(1); ready.Load() < goroutines; {
						runtime.Gosched()
					}
					for _, b := range blocks {
						p.Put(b)
					}
				})
			}
			wg.Wait()
			want := uint64(len(blocks) * (goroutines - 1) * (round + 1))
			if s := p.Stats(); s.Dropped.Double != want || s.Dropped.Foreign != 0 || s.InUseBytes != 0 {
				t.Fatalf("size %d, round %d: Dropped.Double %d, want %d; Dropped.Foreign %d, InUseBytes %d",
					size, round, s.Dropped.Double, want, s.Dropped.Foreign, s.InUseBytes)
			}
		}
	}
}

// A Put of a block that a Lease lends makes the Lease's Release the second Put.
func TestPutOfLeasedBlock(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{}, offheap.Options{})
	l := p.Lease(100)
	p.Put(l.Bytes())
	l.Release()
	if s := p.Stats(); s.Dropped.Double != 1 || s.InUseBytes != 0 || s.IdleBytes != 112 {
		t.Errorf("%+v", s)
	}
}

// When the range is full Get takes memory from the heap, and its Put is told from Puts
// of foreign slices.
func TestFallbackToTheHeap(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{1 << 20}}, offheap.Options{Reserve: 1 << 20})
	a, b, c := p.Get(1), p.Get(1), p.Get(1)
	if _, err := p.TryGet(1); !errors.Is(err, arena.ErrFull) {
		t.Errorf("TryGet: %v", err)
	}
	p.Put(b)
	p.Put(b)                   // now the block is idle
	p.Put(c[1:])               // its cap is no class
	p.Put(make([]byte, 1<<20)) // foreign
	p.Put(a)
	s := p.Stats()
	if s.OffHeap.Fallback != 2 || s.Dropped.Fallback != 1 || s.Dropped.Foreign != 3 || s.Misses != 3 || s.Puts != 5 {
		t.Errorf("OffHeap.Fallback %d, Dropped.Fallback %d, Dropped.Foreign %d, Misses %d, Puts %d",
			s.OffHeap.Fallback, s.Dropped.Fallback, s.Dropped.Foreign, s.Misses, s.Puts)
	}
	if s.InUseBytes != 0 || s.IdleBytes != 1<<20 {
		t.Errorf("InUseBytes %d, IdleBytes %d", s.InUseBytes, s.IdleBytes)
	}
	runtime.KeepAlive(b)
}

// A caller that holds one block at a time, in a Reserve for one, is never refused, and
// never gets another block's memory, because a Trim has that block's room in hand.
// Where and when they meet is left to chance; arena's TestFullWaitsForDecommit leaves
// nothing to it.
func TestOneBlockBesideTrim(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64 << 10}, MaxIdleBytes: dewpond.NoIdle}, offheap.Options{Reserve: 64 << 10})
	var stop atomic.Bool
	trimmed := make(chan struct{})
	go func() {
		defer close(trimmed)
		for !stop.Load() {
			p.Trim()
		}
	}()
	rounds := 50_000
	if testing.Short() {
		rounds = 5_000
	}
	for range rounds {
		b, err := p.TryGet(1000)
		if err != nil {
			t.Error(err)
			break
		}
		b[0] = 1
		p.Put(b)
		p.Put(p.Get(1000))
	}
	stop.Store(true)
	<-trimmed
	if s := p.Stats(); s.OffHeap.Fallback != 0 || s.Refused != 0 {
		t.Errorf("OffHeap.Fallback %d, Refused %d in %d rounds", s.OffHeap.Fallback, s.Refused, rounds)
	}
}

func TestTrimDecommits(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{}, offheap.Options{})
	b := p.Get(1 << 20)
	keep := p.Get(5000)
	p.Put(b)
	before := p.Stats()
	p.Trim()
	after := p.Stats()
	if before.OffHeap.Committed <= 1<<20 || after.OffHeap.Committed <= 0 || after.OffHeap.Committed >= 1<<16 ||
		after.OffHeap.Decommitted != before.OffHeap.Committed-after.OffHeap.Committed {
		t.Errorf("committed %d, then %d; decommitted %d", before.OffHeap.Committed, after.OffHeap.Committed, after.OffHeap.Decommitted)
	}
	if d := after.Sub(before); d.OffHeap.Decommitted != after.OffHeap.Decommitted {
		t.Errorf("Sub: %d", d.OffHeap.Decommitted)
	}
	p.Put(keep)
}

// Blocks that decay releases are decommitted, and so are blocks that a pool without
// room drops.
func TestDecayDecommits(t *testing.T) {
	for _, idle := range []int64{0, dewpond.NoIdle} {
		synctest.Test(t, func(t *testing.T) {
			p := newPool(t, dewpond.BytePoolOptions{MaxIdleBytes: idle, IdleTimeout: time.Second}, offheap.Options{})
			p.Put(p.Get(1 << 20))
			if s := p.Stats(); s.OffHeap.Committed != 1<<20 {
				t.Errorf("OffHeap.Committed %d before", s.OffHeap.Committed)
			}
			time.Sleep(5 * time.Second)
			synctest.Wait()
			if s := p.Stats(); s.OffHeap.Committed != 0 || s.IdleBytes != 0 {
				t.Errorf("MaxIdleBytes %d: OffHeap.Committed %d, IdleBytes %d", idle, s.OffHeap.Committed, s.IdleBytes)
			}
			p.Close()
		})
	}
}

func TestCloseSaysHowManyAreOut(t *testing.T) {
	p, err := offheap.NewBytePool(dewpond.BytePoolOptions{Name: "closing"})
	if err != nil {
		t.Fatal(err)
	}
	a, b := p.Get(5000), p.Get(5000)
	p.Put(p.Get(100))
	for range 2 {
		var in *arena.InUseError
		if err := p.Close(); !errors.As(err, &in) || in.Blocks != 2 || !strings.Contains(err.Error(), "closing") {
			t.Errorf("Close with two out: %v", err)
		}
	}
	a[0]++
	p.Put(a)
	p.Put(a)
	late := p.Get(5000) // from the heap
	late[0]++
	p.Put(late)
	b[0]++
	p.Put(b)
	s := p.Stats()
	if s.OffHeap.Reserved != 0 || s.OffHeap.Committed != 0 || s.Dropped.Closed != 2 || s.Dropped.Double != 1 || s.Dropped.Fallback != 1 || s.InUseBytes != 0 {
		t.Errorf("%+v", s)
	}
	if err := p.Close(); err != nil {
		t.Error(err)
	}
	p.Put(b) // the address is free now
	if s := p.Stats(); s.Dropped.Foreign != 1 {
		t.Errorf("Dropped.Foreign %d", s.Dropped.Foreign)
	}
}

// A Put of a block that the caller no longer has is refused, even while Close unmaps
// the pool's memory, and after.
func TestStalePutDuringClose(t *testing.T) {
	for range 50 {
		p := newPool(t, dewpond.BytePoolOptions{}, offheap.Options{})
		small, large := p.Get(100), p.Get(100_000)
		p.Put(small)
		p.Put(large)
		const goroutines, puts = 2, 200
		var wg go125.WaitGroup
		for range goroutines {
			wg.Go(func() {
				for range puts {
					p.Put(small)
					p.Put(large)
				}
			})
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
		wg.Wait()
		if s := p.Stats(); s.Dropped.Double+s.Dropped.Foreign != goroutines*puts*2 || s.InUseBytes != 0 || s.OffHeap.Reserved != 0 {
			t.Fatalf("Dropped.Double %d, Dropped.Foreign %d, InUseBytes %d, OffHeap.Reserved %d",
				s.Dropped.Double, s.Dropped.Foreign, s.InUseBytes, s.OffHeap.Reserved)
		}
	}
}
