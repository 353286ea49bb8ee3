package memory

import (
	"reflect"
	"runtime"
	"testing"
	"weak"
)

func newFallback(f *Fallbacks) (first *byte, address uintptr) {
	b := make([]byte, 64)
	first, address = &b[0], reflect.ValueOf(b).Pointer()
	f.Add(first, address)
	return first, address
}

func TestFallbacks(t *testing.T) {
	var f Fallbacks
	var other [64]byte
	if f.Remove(&other[0], 1) {
		t.Error("there is one, though none was added")
	}
	first, address := newFallback(&f)
	second, address2 := newFallback(&f)
	if f.Remove(&other[0], 1) {
		t.Error("a slice from elsewhere is one")
	}
	if !f.Remove(first, address) || f.Remove(first, address) {
		t.Error("a fallback is not one once")
	}
	if !f.Remove(second, address2) {
		t.Error("another is none")
	}
	runtime.KeepAlive(first)
}

// A block that is lost is removed, and memory at its address is then no fallback block.
func TestFallbackIsLost(t *testing.T) {
	var f Fallbacks
	_, address := newFallback(&f)
	for {
		f.mu.Lock()
		left := len(f.at)
		f.mu.Unlock()
		if left == 0 {
			break
		}
		runtime.GC() // if it is not, the test runs into its timeout
	}

	next, old := new(byte), new(byte)
	f.at[address] = weak.Make(old) // lost, and not removed yet
	if f.Remove(next, address) {
		t.Error("a slice is a fallback that lay where it lies")
	}
	runtime.KeepAlive(old)

	// Another fallback block has its address by the time the cleanup runs.
	f.Add(next, address)
	f.forget(address, weak.Make(old))
	if !f.Remove(next, address) {
		t.Error("a lost fallback took another's place with it")
	}
	f.Add(next, address)
	f.forget(address, weak.Make(next))
	if len(f.at) != 0 {
		t.Error("a lost fallback is not forgotten")
	}
	runtime.KeepAlive(next)
}
