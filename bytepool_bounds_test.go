package dewpond_test

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
)

// 512 goroutines put at once: a pool that looks at its bound before it pushes, as
// the contender treiber of cmd/dewpond does, goes past it here. What is idle is
// counted by what Trim releases, not by the pool's own word alone. instruments/proof
// checks the bounds at every step instead.
func TestBoundsHold(t *testing.T) {
	notWatched(t, "it looks at how much is idle, of which the quarantine has its own share")
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for _, tt := range []struct {
		o     dewpond.BytePoolOptions
		size  int
		limit int64 // bytes
		least int64 // bytes that a full pool keeps: half, or all where blocks lie singly
	}{
		{dewpond.BytePoolOptions{MaxIdlePerClass: 2048}, 128, 2048 * 128, 1024 * 128},
		{dewpond.BytePoolOptions{MaxIdlePerClass: 10}, 128, 10 * 128, 10 * 128},
		{dewpond.BytePoolOptions{MaxIdlePerClass: 1}, 8192, 8192, 8192},
		{dewpond.BytePoolOptions{MaxIdlePerClass: 10}, 64 << 10, 10 * 64 << 10, 10 * 64 << 10},
		{dewpond.BytePoolOptions{MaxIdleBytes: 1 << 20}, 128, 1 << 20, 1 << 19},
		{dewpond.BytePoolOptions{MaxIdleBytes: 1 << 20}, 8192, 1 << 20, 1 << 19},
		{dewpond.BytePoolOptions{MaxIdleBytes: 1 << 20}, 64 << 10, 1 << 20, 1 << 20},
		{dewpond.BytePoolOptions{MaxIdleBytes: 1000}, 128, 1000, 7 * 128},
		{dewpond.BytePoolOptions{MaxIdleBytes: 100}, 128, 0, 0},
		{dewpond.BytePoolOptions{MaxIdleBytes: dewpond.NoIdle}, 128, 0, 0},
		{dewpond.BytePoolOptions{MaxIdlePerClass: dewpond.NoIdle}, 128, 0, 0},
	} {
		t.Run(fmt.Sprintf("%d_of_%d", tt.limit, tt.size), func(t *testing.T) {
			p := newPool(t, tt.o)
			const goroutines, rounds = 512, 4
			each := int(2*tt.limit)/tt.size/goroutines/rounds + max(1, min(10, 64<<10/tt.size))
			for range rounds {
				var wg, held go125.WaitGroup
				start := make(chan struct{})
				held.Add(goroutines)
				for range goroutines {
					wg.Go(func() {
						mine := make([][]byte, each)
						for i := range mine {
							mine[i] = p.Get(tt.size)
						}
						held.Done()
						<-start
						for i, b := range mine {
							p.Put(b)
							if i%8 == 0 {
								p.Put(p.Get(tt.size))
							}
						}
					})
				}
				held.Wait()
				close(start)
				wg.Wait()
				if idle := p.Stats().IdleBytes; idle > tt.limit {
					t.Fatalf("%d bytes are idle, want at most %d", idle, tt.limit)
				}
			}
			s := p.Stats()
			if s.DroppedFull == 0 {
				t.Fatal("nothing was dropped: the pool was never full, so this test cannot fail")
			}
			got := p.Trim()
			if got > tt.limit || got < tt.least {
				t.Errorf("%d bytes were idle, want %d to %d", got, tt.least, tt.limit)
			}
			if got != s.IdleBytes {
				t.Errorf("Trim released %d bytes, Stats said %d were idle", got, s.IdleBytes)
			}
			if left := dewpond.Reserved(p); left != 0 {
				t.Errorf("%d bytes are still reserved in an empty pool", left)
			}
		})
	}
}
