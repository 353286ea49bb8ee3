package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/pressure"
)

// settings restores the limit and GOGC when the test ends.
func settings(t testing.TB, limit int64) {
	before, gogc := debug.SetMemoryLimit(limit), debug.SetGCPercent(100)
	t.Cleanup(func() {
		debug.SetMemoryLimit(before)
		debug.SetGCPercent(gogc)
	})
}

// held is hold, and ends the floor when the test ends: it would set GOGC in the next test.
func held(t testing.TB, limit int64) *floor {
	f := hold(limit)
	t.Cleanup(func() {
		debug.SetMemoryLimit(1 << 40) // another limit than the floor's ends it
		collect(t, func() bool { return number("/gc/gogc:percent") != 1<<64-1 })
	})
	return f
}

func number(name string) uint64 {
	s := []metrics.Sample{{Name: name}}
	metrics.Read(s)
	return s[0].Value.Uint64()
}

// live returns the bytes that count towards the limit and that no collection frees.
func live() int64 {
	return int64(number("/gc/heap/live:bytes") + number("/memory/classes/total:bytes") - number("/memory/classes/heap/released:bytes") -
		number("/memory/classes/heap/free:bytes") - number("/memory/classes/heap/objects:bytes"))
}

// collect collects until what is asked for has come true: a finalizer runs some time after its collection.
func collect(t testing.TB, until func() bool) {
	t.Helper()
	for range 5000 {
		if until() {
			return
		}
		runtime.GC()
		runtime.Gosched()
	}
	t.Fatal("it has not come true in 5000 collections")
}

// The floor looks after a collection although GOMAXPROCS falls while the collector sweeps. What is alive it
// cannot tell then: in Go 1.26 what the runtime counts as the heap's can stay tens of MiB too high.
func TestFloorOutlivesItsP(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	const limit = 32 << 20
	settings(t, limit)
	f := held(t, limit)
	type small struct{ _, _ *byte }
	var swept []*small // so that there is something to sweep
	for range 100_000 {
		swept = append(swept, new(small))
	}
	var sink atomic.Int64
	for round := range 100 {
		runtime.GOMAXPROCS(16)
		var stop atomic.Bool
		for range 4 {
			go func() {
				for !stop.Load() {
					sink.Add(int64(len(make([]byte, 512+round))))
				}
			}()
		}
		go runtime.GC()
		time.Sleep(time.Duration(round%30) * 100 * time.Microsecond)
		runtime.GOMAXPROCS(1)
		stop.Store(true)
		before := f.calls.Load()
		collect(t, func() bool { return f.calls.Load() >= before+2 }) // one may have begun before
	}
	runtime.KeepAlive(swept)
}

func TestFloorFollowsTheLiveHeap(t *testing.T) {
	limit := 2*live() + 32<<20
	settings(t, limit)
	f := held(t, limit)
	if gogc := number("/gc/gogc:percent"); gogc != 1<<64-1 {
		t.Errorf("GOGC is %d, not off", gogc)
	}
	kept := make([]byte, limit)
	collect(t, f.raised.Load)
	if set := debug.SetMemoryLimit(-1); set < live()*12/10 || set > live()*13/10 || live() < limit {
		t.Errorf("%d bytes alive have a limit of %d", live(), set)
	}
	runtime.KeepAlive(kept)
	kept = nil
	collect(t, func() bool { return !f.raised.Load() })
	if set := debug.SetMemoryLimit(-1); set != limit {
		t.Errorf("with a small heap the limit is %d, not the %d that it was", set, limit)
	}

	theirs := limit + 16<<20 // somebody else's
	debug.SetMemoryLimit(theirs)
	collect(t, func() bool { return number("/gc/gogc:percent") == 100 })
	kept = make([]byte, limit)
	for range 5 {
		runtime.GC()
	}
	if set := debug.SetMemoryLimit(-1); set != theirs || f.raised.Load() {
		t.Errorf("the limit that somebody else has set became %d, raised %v", set, f.raised.Load())
	}
	runtime.KeepAlive(kept)
}

// Who sets both keeps both.
func TestFloorLeavesTheirGOGC(t *testing.T) {
	const limit, theirs = 256 << 20, 200 << 20
	settings(t, limit)
	f := held(t, limit)
	debug.SetMemoryLimit(theirs)
	debug.SetGCPercent(70)
	before := f.calls.Load()
	collect(t, func() bool { return f.calls.Load() > before })
	if gogc, set := number("/gc/gogc:percent"), debug.SetMemoryLimit(-1); gogc != 70 || set != theirs {
		t.Errorf("GOGC %d and a limit of %d: they had set 70 and %d", gogc, set, theirs)
	}
}

func TestFloorSheds(t *testing.T) {
	const limit = 32 << 20
	settings(t, limit)
	f := held(t, limit)
	served := f.sheds(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	status := func() int {
		w := httptest.NewRecorder()
		served.ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
		return w.Code
	}
	if pressure.Current() == pressure.Low {
		if code := status(); code != http.StatusOK {
			t.Errorf("at low pressure the status is %d", code)
		}
	}
	kept := make([]byte, 40<<20)
	collect(t, func() bool { return f.raised.Load() && status() == http.StatusServiceUnavailable })
	runtime.KeepAlive(kept)
}

// A record is what the live heap is of: 128 bytes with a pointer to others.
type record struct {
	next *record
	_    [15]uint64
}

// BenchmarkNearTheLimit has a live heap of so much of the limit, and makes garbage. It counts
// collections, and shows the most memory that the process had as a part of the limit.
func BenchmarkNearTheLimit(b *testing.B) {
	for _, percent := range []int64{50, 80, 88, 96} {
		for _, way := range []string{"limit", "floor"} {
			b.Run(fmt.Sprintf("live=%d%%/%s", percent, way), func(b *testing.B) {
				records := make([]*record, 96<<20/128)
				for i := range records {
					records[i] = &record{next: records[i*7/8]}
				}
				runtime.GC()
				limit := live() * 100 / percent
				settings(b, limit)
				if way == "floor" {
					held(b, limit)
				} else {
					debug.SetGCPercent(-1)
				}
				runtime.GC()
				collections, collector, used := counts()
				peak := uint64(0)
				for b.Loop() {
					for range 64 { // a MiB
						body = make([]byte, 16<<10)
						for i := range 2 * len(body) {
							body[i%len(body)] += byte(i)
						}
					}
					peak = max(peak, number("/memory/classes/total:bytes")-number("/memory/classes/heap/released:bytes"))
				}
				runtime.KeepAlive(records)
				moreCollections, moreCollector, moreUsed := counts()
				b.ReportMetric((moreCollections-collections)*1024/float64(b.N), "collections/GiB")
				b.ReportMetric(100*(moreCollector-collector)/(moreUsed-used), "collector-%cpu")
				b.ReportMetric(100*float64(peak)/float64(limit), "peak-%limit")
			})
		}
	}
}

var body []byte

// counts returns the collections so far, and the processor seconds of the collector and of the process
// as they were at the last one, without what the collector did on idle processors.
func counts() (collections, collector, used float64) {
	s := []metrics.Sample{{Name: "/cpu/classes/gc/total:cpu-seconds"}, {Name: "/cpu/classes/gc/mark/idle:cpu-seconds"},
		{Name: "/cpu/classes/user:cpu-seconds"}, {Name: "/cpu/classes/scavenge/total:cpu-seconds"}}
	metrics.Read(s)
	collector = s[0].Value.Float64() - s[1].Value.Float64()
	return float64(number("/gc/cycles/automatic:gc-cycles")), collector, collector + s[2].Value.Float64() + s[3].Value.Float64()
}
