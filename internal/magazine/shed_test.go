package magazine

import (
	"runtime"
	"testing"
	"unsafe"
)

// The blocks that have been in the depot longest go first, even when younger blocks
// come between two calls, and the rest can still be found.
func TestShedTakesTheOldest(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))        // a goroutine that moves leaves a magazine behind
	for _, size := range []int{1024, 2 * MaxShardedSize} { // in magazines of many, and singly
		var e Engine
		e.Init(Config{Sizes: []int{1024, 2 * MaxShardedSize}, MaxIdleBytes: 1 << 30})
		e.grow()
		class := uint8(0)
		if size > MaxShardedSize {
			class = 1
		}
		age := map[unsafe.Pointer]int{}
		add := func(n int) {
			for range n {
				b := block()
				age[b] = len(age)
				if e.Add(class, b) != Kept {
					t.Fatal("there is no room")
				}
			}
		}
		shed := func(n, youngest int) {
			t.Helper()
			got := e.Shed(class, n, func(_ uint8, b unsafe.Pointer) {
				if age[b] >= youngest {
					t.Errorf("size %d: the %dth block went before the %dth", size, age[b], youngest)
				}
			})
			if got != n {
				t.Errorf("size %d: shed %d, want %d", size, got, n)
			}
		}
		const magazine = 64 // of 1024 bytes: the order within one magazine is not kept
		add(5 * magazine)
		shed(magazine, magazine)
		add(2 * magazine)
		shed(2*magazine, 3*magazine)
		shed(magazine/2, 4*magazine)
		left := map[unsafe.Pointer]bool{}
		for b := e.Pop(class); b != nil; b = e.Pop(class) {
			left[b] = true
		}
		if len(left) != 7*magazine-3*magazine-magazine/2 {
			t.Errorf("size %d: %d blocks are left", size, len(left))
		}
		if got := e.Shed(class, 10, nil); got != 0 {
			t.Errorf("size %d: shed %d of nothing", size, got)
		}
	}
}

// Low is the least value, not the last.
func TestLow(t *testing.T) {
	var e Engine
	e.Init(Config{Sizes: []int{2 << 20}, MaxIdleBytes: 64 << 20})
	e.grow()
	for range 10 {
		e.Add(0, block())
	}
	e.Low(0)
	var out []unsafe.Pointer
	for range 7 {
		out = append(out, e.Pop(0))
	}
	for _, b := range out {
		e.Push(0, b)
	}
	if got := e.Low(0); got != 3 {
		t.Errorf("Low = %d, want 3", got)
	}
	if got := e.Low(0); got != 10 {
		t.Errorf("Low = %d, want 10", got)
	}
}
