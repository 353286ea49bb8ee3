//go:build (!gc || !go1.24 || (go1.28 && !dewpond_pinned) || race || dewpond_portable) && !dewpond_explore

package percpu

import (
	"runtime"
	"unsafe"
)

// Pinned says that Pin gives only a hint: the caller must lock what it uses.
const Pinned = false

// Engine names the engine, for Stats and for benchmarks, and says why it is this one.
func Engine() string { return "portable (" + why + ")" }

// Pin returns a number that tends to stay the same for a goroutine and to differ
// between goroutines. It excludes no other goroutine.
//
// The address of a local variable is such a number, and costs nothing: stacks are at
// least 2 KiB apart, and the multiplier (2^64 divided by the golden ratio) spreads
// their addresses over the upper bits.
func Pin() int {
	var here byte
	return int(uint64(uintptr(unsafe.Pointer(&here))>>11) * 0x9E3779B97F4A7C15 >> 33)
}

// Unpin does nothing in the portable engine.
func Unpin() {}

// Grace does nothing in the portable engine: the caller waits by taking its own locks.
func Grace() {}

// Procs returns how many shards to make. Goroutines choose shards at random, so there
// are more shards than goroutines that can run at once, and two seldom choose the same.
// Where only one can run, one shard has every idle block.
func Procs() int {
	if n := runtime.GOMAXPROCS(0); n > 1 {
		return 4 * n
	}
	return 1
}
