//go:build !dewpond_explore

package percpu

import (
	"runtime"
	"testing"
)

// Where one goroutine can run there is one shard, so that a Get finds every idle block.
func TestProcs(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	if n := Procs(); n != 1 {
		t.Errorf("%d shards", n)
	}
	runtime.GOMAXPROCS(3)
	if n := Procs(); n < 3 {
		t.Errorf("%d shards for 3 that run at once", n)
	}
}
