//go:build !race

package children

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"
)

// A pool that is dropped without Close while a block is out stays mapped and counted,
// in the process's totals and in the limit, but its idle blocks are given back. A pool
// whose blocks are all idle leaves nothing. The test runs in a process of its own,
// where nothing else is off the heap.
func TestDroppedPoolIsCounted(t *testing.T) {
	got := printed(t, func(string) {
		b := drop()
		fmt.Printf("%+v ", offheap.Total().Committed>>20)
		// If the collector does not find the pools, the test does not end.
		for now := offheap.Total(); now.Committed != mib || now.Reserved != 128*mib || now.LimitLowered != mib; now = offheap.Total() {
			if n := now.Committed; n < mib {
				fmt.Printf("%d bytes are counted, and a block is out ", n)
				break
			}
			runtime.GC()
		}
		for range 5 { // and it stays so
			runtime.GC()
		}
		b[0]++
		for range dewpond.Pools() {
			fmt.Print("a pool is registered: this shows nothing ")
		}
		fmt.Printf("%+v %d", offheap.Total(), debug.SetMemoryLimit(-1)>>20)
	}, "", "256MiB")
	const want = "11 {Reserved:134217728 Committed:1048576 Coupled:1048576 LimitLowered:1048576 LimitAtFloor:false LimitLost:false} 255"
	if got != want {
		t.Errorf("%s; want %s", got, want)
	}
}

// drop drops two pools, one of which has a block out.
//
//go:noinline
func drop() []byte {
	p, q := childPool(coupled), childPool(coupled)
	blocks := take(p, 1<<20, 6)
	give(p, blocks[1:]...)
	give(q, take(q, 1<<20, 5)...)
	return blocks[0]
}
