package magazine

import (
	"sync/atomic"
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond/internal/go125"
)

// TestCountsWhileInUse checks that while blocks pass through, no count that only grows
// goes back, and each is between its values before and after the call of Counts. Idle,
// a difference of such counts, may be off meanwhile, and is exact in the end.
func TestCountsWhileInUse(t *testing.T) {
	const users, each = 4, 5_000
	for _, size := range []int{64, 64 << 10} { // in shards, and in the depot alone
		var e Engine
		e.Init(Config{Sizes: []int{size}, MaxIdleBytes: 64 << 20})
		e.grow()
		// began and ended count calls, so that the engine's counts lie between them.
		var began, ended [2]atomic.Uint64 // of pushes, of pops that found a block
		var wg go125.WaitGroup
		for range users {
			wg.Go(func() {
				b := unsafe.Pointer(new(owned))
				for range each {
					began[0].Add(1)
					if e.Push(0, b) > KeptDirect {
						t.Error("a block was not kept")
					}
					ended[0].Add(1)
					began[1].Add(1)
					if b = e.Pop(0); b == nil {
						b = unsafe.Pointer(new(owned))
						began[1].Add(^uint64(0))
						continue
					}
					ended[1].Add(1)
				}
			})
		}
		done := make(chan struct{})
		go func() { wg.Wait(); close(done) }()
		var last Counts
		for busy, reads := true, 0; busy; reads++ {
			select {
			case <-done:
				busy = false
			default:
			}
			if reads%16 == 0 {
				e.EnterDirect()
			} else if reads%16 == 8 {
				e.LeaveDirect()
			}
			puts, hits := ended[0].Load(), ended[1].Load()
			c := e.Counts()[0]
			if c.Puts < puts || c.Puts > began[0].Load() || c.Hits < hits || c.Hits > began[1].Load() {
				t.Fatalf("%+v; %d to %d pushes and %d to %d pops", c, puts, began[0].Load(), hits, began[1].Load())
			}
			if c.Puts < last.Puts || c.Hits < last.Hits {
				t.Fatalf("%+v after %+v", c, last)
			}
			last = c
		}
		if want := ended[0].Load(); last.Puts != want || last.Hits != ended[1].Load() || last.Idle != int(want-last.Hits) {
			t.Errorf("%+v in the end; %d pushes, %d pops", last, want, ended[1].Load())
		}
	}
}

// TestIdleIsWithinWhatIsReserved has a reader lose its processor between reading a
// shard's hits and another's puts, so that it finds more puts than belong to the hits.
// Idle is not more than what is reserved even then.
func TestIdleIsWithinWhatIsReserved(t *testing.T) {
	var e Engine
	e.Init(Config{Sizes: []int{2 << 20}, MaxIdleBytes: 64 << 20})
	e.grow()
	for range 3 {
		e.Push(0, unsafe.Pointer(new(owned)))
	}
	e.depots.At(0).puts.Add(700)
	if idle := e.Counts()[0].Idle; idle != 3 {
		t.Errorf("%d blocks are idle, want the 3 that are reserved", idle)
	}
}
