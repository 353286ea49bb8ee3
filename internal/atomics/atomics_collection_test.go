//go:build !dewpond_explore

package atomics_test

import (
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/atomics"
)

// A function that AfterCollection was given is called although GOMAXPROCS falls while the
// collector sweeps. With a cleanup in place of the finalizer, which then waits on a P that is
// gone, five of six runs of this test failed.
func TestAfterCollectionOutlivesItsP(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	type small struct{ _, _ *byte }
	var live []*small // so that there is something to sweep
	for range 500_000 {
		live = append(live, new(small))
	}
	var given, called atomic.Int64
	var sink atomic.Pointer[[512]byte]
	for round := range 100 {
		runtime.GOMAXPROCS(8)
		for range 40 {
			given.Add(1)
			atomics.AfterCollection(func() { called.Add(1) })
		}
		var stop atomic.Bool
		for range 4 {
			go func() {
				for !stop.Load() {
					sink.Store(new([512]byte))
				}
			}()
		}
		var before, after runtime.MemStats
		for runtime.ReadMemStats(&before); after.NumGC <= before.NumGC; runtime.ReadMemStats(&after) {
			runtime.Gosched()
		}
		time.Sleep(time.Duration(round%30) * 10 * time.Microsecond)
		runtime.GOMAXPROCS(1)
		stop.Store(true)
		for collections := 0; called.Load() < given.Load(); collections++ {
			if collections == 1000 {
				t.Fatalf("round %d: of %d functions %d were called after %d collections", round, given.Load(), called.Load(), collections)
			}
			runtime.GC()
			runtime.Gosched()
		}
	}
	runtime.KeepAlive(live)
}
