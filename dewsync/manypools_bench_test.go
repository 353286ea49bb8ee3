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

// BenchmarkManyPools measures pools that were used once, 100 or 1000 times, compared with as many of sync.Pool: to make a
// pool and use it, the time of a GC cycle, and the CPU time per second, without the GC's, while they are idle.
//
//	go test -run '^$' -bench ManyPools -benchtime 20x ./dewsync
//	go test -run '^$' -bench ManyPools/made -benchtime 20000x ./dewsync
func BenchmarkManyPools(b *testing.B) {
	defer dewsync.StartYoung(10 * time.Millisecond)()
	type pool interface {
		Get() any
		Put(any)
	}
	kinds := map[string]func() pool{
		"sync":    func() pool { return &sync.Pool{New: func() any { return new([64]byte) }} },
		"dewpond": func() pool { return &dewsync.Pool{New: func() any { return new([64]byte) }} },
	}
	use := func(kind string, calls int) pool {
		p := kinds[kind]()
		for range calls {
			p.Put(p.Get())
		}
		return p
	}
	for _, calls := range []int{1, 100, 1000} {
		for _, kind := range []string{"sync", "dewpond"} {
			name := fmt.Sprintf("calls=%d/%s", calls, kind)
			many := func(n int) (all []pool) {
				for range n {
					all = append(all, use(kind, calls))
				}
				return all
			}
			b.Run("made/"+name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					use(kind, calls)
				}
			})
			b.Run("idle=2000/"+name, func(b *testing.B) {
				all := many(2000)
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
			b.Run("collected=20000/"+name, func(b *testing.B) {
				all := many(20_000)
				for b.Loop() {
					runtime.GC()
				}
				runtime.KeepAlive(all)
			})
		}
	}
}

func userTime() (seconds float64) {
	s := []metrics.Sample{{Name: "/cpu/classes/user:cpu-seconds"}}
	metrics.Read(s)
	return s[0].Value.Float64()
}
