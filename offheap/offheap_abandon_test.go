package offheap_test

import (
	"runtime"
	"sync/atomic"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/offheap"
)

// A pool that is dropped while one of its blocks is out leaves that block as it is,
// whatever the collector does meanwhile.
func TestAbandonedBlocksStay(t *testing.T) {
	var stop atomic.Bool
	var collector, users go125.WaitGroup
	collector.Go(func() {
		for !stop.Load() {
			runtime.GC()
		}
	})
	for g := range 4 {
		users.Go(func() {
			for i := range 30 {
				b := abandon(t, []int{10, 3000, 60_000}[i%3], byte(g+1))
				runtime.Gosched()
				for j := range b {
					if b[j] != byte(g+1) {
						t.Errorf("byte %d of a block of %d is %d, want %d", j, len(b), b[j], g+1)
						return
					}
				}
			}
		})
	}
	users.Wait()
	stop.Store(true)
	collector.Wait()
}

// abandon drops a pool that was in use, and returns a block of it.
//
//go:noinline
func abandon(t *testing.T, n int, with byte) []byte {
	p, err := offheap.Options{Reserve: 1 << 20}.NewBytePool(dewpond.BytePoolOptions{Name: "abandoned", Classes: []int{64, 4096, 64 << 10}})
	if err != nil {
		t.Error(err)
		return nil
	}
	for range 20 {
		p.Put(p.Get(n))
	}
	b := p.Get(n)
	for i := range b {
		b[i] = with
	}
	return b
}
