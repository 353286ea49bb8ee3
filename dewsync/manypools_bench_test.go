package dewsync_test

import (
	"fmt"
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond/dewsync"
)

// BenchmarkManyPools measures pools that were used once, compared with as many of sync.Pool: the time of a GC cycle,
// and the CPU time per second, without the GC's, while they are idle.
//
//	go test -run '^$' -bench ManyPools -benchtime 20x ./dewsync
func BenchmarkManyPools(b *testing.B) {
	type pool interface {
		Get() any
		Put(any)
	}
	kinds := map[string]func() pool{
		"sync":    func() pool { return &sync.Pool{New: func() any { return new([64]byte) }} },
		"dewpond": func() pool { return &dewsync.Pool{New: func() any { return new([64]byte) }} },
	}
	for _, kind := range []string{"sync", "dewpond"} {
		use := func(n int) []pool {
			all := make([]pool, n)
			for i := range all {
				all[i] = kinds[kind]()
				all[i].Put(all[i].Get())
			}
			return all
		}
		b.Run(fmt.Sprint("idle/2000/", kind), func(b *testing.B) {
			all := use(2000)
			for range 3 { // what went before is gone
				runtime.GC()
			}
			before, seconds := userTime(), 0
			for b.Loop() {
				time.Sleep(time.Second)
				seconds++
			}
			runtime.GC() // the runtime counts by then
			b.ReportMetric(1000*(userTime()-before)/float64(seconds), "user-ms/s")
			runtime.KeepAlive(all)
		})
		b.Run(fmt.Sprint("collection/20000/", kind), func(b *testing.B) {
			all := use(20_000)
			for b.Loop() {
				runtime.GC()
			}
			runtime.KeepAlive(all)
		})
	}
}

func userTime() (seconds float64) {
	s := []metrics.Sample{{Name: "/cpu/classes/user:cpu-seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64()
}
