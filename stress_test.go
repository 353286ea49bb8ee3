package dewpond_test

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
)

// stressStamps is how many blocks a stress test stamps.
func stressStamps() uint64 {
	switch {
	case *long:
		return 15_000_000
	case testing.Short():
		return 60_000
	}
	return 300_000
}

// No block ever has two owners: each goroutine stamps every block it gets over
// its whole cap, holds it, perhaps passes it to another goroutine, and finds the
// stamp untouched, while GOMAXPROCS changes and the pool is trimmed.
func TestNoBlockHasTwoOwners(t *testing.T) {
	for _, tt := range []struct {
		name string
		o    dewpond.BytePoolOptions
	}{
		{"plain", dewpond.BytePoolOptions{Zero: dewpond.ZeroNever}},
		{"small bounds", dewpond.BytePoolOptions{Zero: dewpond.ZeroOnGet, MaxIdlePerClass: 100, MaxIdleBytes: 256 << 10}},
		{"limited", dewpond.BytePoolOptions{AllocRate: 2000}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			stress(t, newPool(t, tt.o), stressStamps())
		})
	}
}

// stride is the distance of the stamps in a block: at most 64 of them.
func stride(block []byte) int { return max(8, len(block)/64&^7) }

func stress(t *testing.T, p *dewpond.BytePool, enough uint64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	var stop atomic.Bool
	var stamps, checks atomic.Uint64
	var wg go125.WaitGroup

	sizes := []int{64, 100, 128, 1000, 8192, 20000, 64 << 10}
	crossing := make(chan []byte, 64)
	check := func(b []byte) {
		b = b[:cap(b)]
		stamp := binary.LittleEndian.Uint64(b)
		for i := 0; i < len(b); i += stride(b) {
			if got := binary.LittleEndian.Uint64(b[i:]); got != stamp {
				t.Errorf("a block of %d bytes stamped %d has %d at %d: it had another owner", len(b), stamp, got, i)
				stop.Store(true)
			}
		}
		checks.Add(1)
	}
	disturb := func(n uint64) { // by the goroutine that made the stamp: another would come too late
		runtime.GOMAXPROCS(1 + int(n%8))
		if n%3 == 0 {
			p.Trim()
		}
	}
	for g := range 300 {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(uint64(g), 1))
			var held [][]byte
			for !stop.Load() {
				size := sizes[rng.IntN(len(sizes))]
				b, err := p.Get(size), error(nil)
				if rng.IntN(4) == 0 {
					p.Put(b)
					if b, err = p.TryGet(size); err != nil {
						continue
					}
				}
				b = b[:cap(b)]
				stamp := stamps.Add(1)
				if stamp%3000 == 0 {
					disturb(stamp / 3000)
				}
				if stamp == enough {
					stop.Store(true)
				}
				for i := 0; i < len(b); i += stride(b) {
					binary.LittleEndian.PutUint64(b[i:], stamp)
				}
				held = append(held, b)
				if rng.IntN(3) == 0 {
					runtime.Gosched()
				}
				if len(held) > rng.IntN(20) {
					b := held[0]
					held = held[1:]
					check(b)
					select {
					case crossing <- b: // to be put back elsewhere
					default:
						p.Put(b)
					}
				}
				select {
				case b := <-crossing:
					check(b)
					p.Put(b)
				default:
				}
			}
			for _, b := range held {
				check(b)
				p.Put(b)
			}
		})
	}
	wg.Wait()
	close(crossing)
	for b := range crossing {
		check(b)
		p.Put(b)
	}
	s := p.Stats()
	t.Logf("%s: %d blocks stamped, %d checks, hit rate %.3f", s.Engine, stamps.Load(), checks.Load(), s.HitRate())
	if s.InUseBytes != 0 || s.Gets != s.Puts || s.Hits+s.Misses != s.Gets {
		t.Errorf("all is back, but %+v", s)
	}
	if got := p.Trim(); got != s.IdleBytes || p.Stats().IdleBytes != 0 || p.Trim() != 0 {
		t.Errorf("Trim released %d, Stats said %d; then %d were idle", got, s.IdleBytes, p.Stats().IdleBytes)
	}
	if left := dewpond.Reserved(p); left != 0 {
		t.Errorf("%d bytes are reserved in an empty pool", left)
	}
}

// A Put that races Close ends in the pool's hands or is dropped, never both.
func TestPutRacesClose(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for i := range 200 {
		source := newFakeSource()
		o := dewpond.BytePoolOptions{Name: fmt.Sprint("race", i), Memory: source}
		if offHeap {
			o.Memory = nil
		}
		if i%2 == 0 {
			o.AllocRate = 1 << 20 // waiters' way
		}
		p, err := makePool(o)
		if err != nil {
			t.Fatal(err)
		}
		var out [8][][]byte
		for g := range out {
			out[g] = [][]byte{p.Get(100), p.Get(100), p.Get(70000)}
		}
		var wg go125.WaitGroup
		for _, blocks := range out {
			wg.Go(func() {
				for _, b := range blocks {
					p.Put(b)
				}
			})
		}
		wg.Go(func() { p.Close() })
		wg.Wait()
		s := p.Stats()
		if s.Trimmed+s.Dropped.Closed != 24 || s.IdleBytes != 0 || dewpond.Reserved(p) != 0 {
			t.Fatalf("24 blocks put: Trimmed %d + Dropped.Closed %d, IdleBytes %d, reserved %d",
				s.Trimmed, s.Dropped.Closed, s.IdleBytes, dewpond.Reserved(p))
		}
		if out, twice := source.report(); out != 0 || twice != 0 {
			t.Fatalf("the Allocator has %d blocks out and %d freed twice", out, twice)
		}
		if err := p.Close(); err != nil || s.OffHeap.Reserved != 0 || s.OffHeap.Committed != 0 {
			t.Fatalf("all is back, but %d bytes are reserved, %d committed, and Close returns %v", s.OffHeap.Reserved, s.OffHeap.Committed, err)
		}
	}
}
