package magazine

import (
	"testing"
	"unsafe"

	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/internal/percpu"
)

// sizeOf returns the size function of an engine of these sizes.
func sizeOf(sizes []int) func(uint8) int { return func(class uint8) int { return sizes[class] } }

// sum returns what all shards hold.
func sum(shards []Occupied) (all Occupied) {
	for _, s := range shards {
		all.Blocks += s.Blocks
		all.Bytes += s.Bytes
	}
	return all
}

// What a goroutine has pushed, and nobody has moved, is in shards, block by block: also the hot one.
// Large blocks are in none.
func TestOccupancy(t *testing.T) {
	sizes := []int{64, 1024, 2 * MaxShardedSize}
	var e Engine
	e.Init(Config{Sizes: sizes, MaxIdleBytes: 64 << 20})
	if s := e.Occupancy(sizeOf(sizes)); len(s) != 0 {
		t.Errorf("an engine that nobody has used has %+v", s)
	}
	want := Occupied{}
	look := func(when string) {
		t.Helper()
		shards := e.Occupancy(sizeOf(sizes))
		if got := sum(shards); got != want || len(shards) < percpu.Procs() {
			t.Errorf("%s: %+v, want %+v together, of %d Ps", when, shards, want, percpu.Procs())
		}
	}
	for class, size := range sizes {
		for i := range 3 { // so few that no magazine is full and leaves
			if e.Push(uint8(class), unsafe.Pointer(new(owned))) > KeptDirect {
				t.Fatal("a block was not kept")
			}
			if size <= MaxShardedSize {
				want.Blocks++
				want.Bytes += int64(size)
			}
			if class == 0 && i == 0 && percpu.Pinned { // which Procs of shards there are is settled by the first use
				look("one block")
			}
		}
	}
	look("pushed")
	for e.Pop(1) != nil {
		want.Blocks--
		want.Bytes -= 1024
	}
	look("popped those of a class")
	e.EnterDirect()
	want = Occupied{}
	look("in direct mode")
	e.LeaveDirect()
	e.Trim(func(uint8, unsafe.Pointer) {})
	look("trimmed")
}

// While blocks pass through, a shard never has more than its magazines, and in the end no more is in
// shards than is idle.
func TestOccupancyWhileInUse(t *testing.T) {
	sizes := []int{64}
	var e Engine
	e.Init(Config{Sizes: sizes, MaxIdleBytes: 64 << 20})
	e.grow()
	var wg go125.WaitGroup
	for range 4 {
		wg.Go(func() {
			var has []unsafe.Pointer
			for i := range 20_000 {
				if i/200%2 == 0 { // more than fits in a shard, so that magazines are exchanged
					b := e.Pop(0)
					if b == nil {
						b = unsafe.Pointer(new(owned))
					}
					has = append(has, b)
					continue
				}
				e.Push(0, has[len(has)-1])
				has = has[:len(has)-1]
			}
		})
	}
	done := make(chan struct{})
	go func() { wg.Wait(); close(done) }()
	for busy := true; busy; {
		select {
		case <-done:
			busy = false
		default:
		}
		for id, s := range e.Occupancy(sizeOf(sizes)) {
			if s.Blocks < 0 || s.Blocks > 2*MaxRounds+1 || s.Bytes != int64(64*s.Blocks) {
				t.Fatalf("shard %d has %+v", id, s)
			}
		}
	}
	if in, idle := sum(e.Occupancy(sizeOf(sizes))).Blocks, e.Counts()[0].Idle; in > idle || in == 0 {
		t.Errorf("%d blocks are in shards, of %d", in, idle)
	}
}
