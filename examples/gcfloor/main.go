// Command gcfloor serves HTTP without GOGC and with a memory limit, which it raises to 1.25 x live where
// it is lower: else the collector takes up to half of the processors there. Below that it does nothing.
//
//	GOMEMLIMIT=64MiB go run ./examples/gcfloor    and then: curl 'localhost:8080/keep?n=[1-80]'
//
// So the process may grow past its limit, which is a decision and no default: see docs/tuning.md.
package main

import (
	"fmt"
	"math"
	"net/http"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond/pressure"
)

// A floor holds the limit at max(limit, 1.25 x live), and looks at the end of each collection.
type floor struct {
	limit, set int64 // what the process was given, and what the floor has set
	gogc       int   // before
	raised     atomic.Bool
	calls      atomic.Int64 // of collected, which have returned
}

func hold(limit int64) *floor {
	f := &floor{limit: limit, set: limit, gogc: debug.SetGCPercent(-1)}
	f.await()
	return f
}

// await has collected called by the next collection, which finds the pointer dead. A cleanup in place of the finalizer
// may get lost: in Go 1.25 to 1.27 one that waits on a P does not run while GOMAXPROCS, which follows the cgroup's limit, is
// lower than when the collector found the pointer.
func (f *floor) await() { runtime.SetFinalizer(new(*floor), func(**floor) { f.collected() }) }

// collected follows what is alive, until somebody else sets the limit: theirs stays, and GOGC is as it was.
func (f *floor) collected() {
	defer f.calls.Add(1)
	if debug.SetMemoryLimit(-1) != f.set {
		f.end()
		return
	}
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/free:bytes"}, {Name: "/memory/classes/heap/objects:bytes"}}
	metrics.Read(s)
	live := int64(s[0].Value.Uint64() + s[1].Value.Uint64() - s[2].Value.Uint64() - s[3].Value.Uint64() - s[4].Value.Uint64())
	before := f.set
	f.set = max(f.limit, live/4*5)
	if theirs := debug.SetMemoryLimit(f.set); theirs != before { // set since the look above
		debug.SetMemoryLimit(theirs)
		f.end()
		return
	}
	f.raised.Store(f.set > f.limit)
	f.await()
}

// end ends the floor, and restores GOGC.
func (f *floor) end() {
	f.raised.Store(false)
	if now := debug.SetGCPercent(f.gogc); now >= 0 {
		debug.SetGCPercent(now) // GOGC is theirs, too
	}
}

// sheds refuses requests while memory is scarce. Package pressure goes by the limit that is set: once
// the floor has raised that, medium is what high was.
func (f *floor) sheds(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if level := pressure.Current(); level == pressure.High || level == pressure.Medium && f.raised.Load() {
			http.Error(w, "memory is scarce: come back later", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	})
}

func main() {
	limit, kept := debug.SetMemoryLimit(-1), sync.Map{}
	if limit == math.MaxInt64 {
		fmt.Fprintln(os.Stderr, "gcfloor: there is no memory limit to raise: set GOMEMLIMIT, such as GOMEMLIMIT=64MiB")
		os.Exit(1)
	}
	http.Handle("/keep", hold(limit).sheds(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept.Store(new(byte), make([]byte, 1<<20))
		fmt.Fprintf(w, "one MiB more is kept, the limit is %d MiB\n", debug.SetMemoryLimit(-1)>>20)
	})))
	fmt.Fprintln(os.Stderr, "gcfloor:", http.ListenAndServe("localhost:8080", nil))
}
