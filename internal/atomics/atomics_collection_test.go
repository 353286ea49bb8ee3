//go:build !dewpond_explore

package atomics_test

import (
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/atomics"
)

// A function that AfterCollection was given is called although GOMAXPROCS falls while the
// collector sweeps. With a cleanup in place of the finalizer, which then waits on a P that is
// gone, five of six runs of this test failed.
func TestAfterCollectionOutlivesItsP(t *testing.T) {
	defer atomics.Rest(0)()
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

// The loss of what has a Witness is found although GOMAXPROCS falls while the collector sweeps. With a cleanup in place
// of the Witness, which then waits on a P that is gone, all of six runs of this test failed.
func TestWitnessOutlivesItsP(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	type holder struct {
		_    [2000]byte
		lost *atomics.Witness
	}
	var made, lost, lostOfKept, sink atomic.Int64
	kept := new(holder)
	kept.lost = atomics.NewWitness(func() { lostOfKept.Add(1) })
	for round := range 60 {
		runtime.GOMAXPROCS(16)
		var stop atomic.Bool
		for range 8 { // they sweep
			go func() {
				for !stop.Load() {
					sink.Add(int64(len(make([]byte, 1024+round))))
				}
			}()
		}
		for range 300 {
			h := new(holder)
			h.lost = atomics.NewWitness(func() { lost.Add(1) })
			made.Add(1)
		}
		go runtime.GC()
		time.Sleep(time.Duration(round%30) * 100 * time.Microsecond)
		runtime.GOMAXPROCS(1)
		stop.Store(true)
		for collections := 0; lost.Load() < made.Load(); collections++ {
			if collections == 1000 {
				t.Fatalf("round %d: of %d losses %d were found after %d collections", round, made.Load(), lost.Load(), collections)
			}
			runtime.GC()
			runtime.Gosched()
		}
	}
	if n := lost.Load(); n != made.Load() || lostOfKept.Load() != 0 {
		t.Errorf("%d losses of %d, and %d of what is held", n, made.Load(), lostOfKept.Load())
	}
	runtime.KeepAlive(kept)
}

// One goroutine calls all that wait for a collection. If a function takes until the next
// collection, another goroutine goes on, and also if a function ends its goroutine.
func TestAfterCollectionStartsOneGoroutine(t *testing.T) {
	defer atomics.Rest(0)()
	goroutine := func() string {
		stack := make([]byte, 64)
		header, _, _ := strings.Cut(string(stack[:runtime.Stack(stack, false)]), "[")
		return header
	}
	const functions = 1000
	var mu sync.Mutex
	seen := map[string]int{} // by goroutine
	done := make(chan struct{})
	for i := range functions {
		atomics.AfterCollection(func() {
			mu.Lock()
			seen[goroutine()]++
			mu.Unlock()
			if i == functions-1 {
				close(done)
			}
		})
	}
	until(done)
	mu.Lock()
	defer mu.Unlock()
	if len(seen) > 2 { // a collection of the runtime may have come between
		t.Errorf("%d goroutines called %d functions", len(seen), functions)
	}

	entered, goOn, last := make(chan struct{}), make(chan struct{}), make(chan struct{})
	defer close(goOn)
	atomics.AfterCollection(func() { close(entered); <-goOn })
	atomics.AfterCollection(runtime.Goexit)
	atomics.AfterCollection(func() { close(last) })
	until(entered)
	for waiting := true; waiting; { // else the test runs into its timeout
		atomics.AfterCollection(func() {})
		runtime.GC()
		select {
		case <-last:
			waiting = false
		case <-time.After(time.Millisecond):
		}
	}
}

// until has collections until done is closed, or the test runs into its timeout.
func until(done chan struct{}) {
	for {
		runtime.GC()
		select {
		case <-done:
			return
		case <-time.After(time.Millisecond):
		}
	}
}

// Functions that are given again at each call are not called at each collection: what they allocate could bring about
// the next one.
func TestAfterCollectionRests(t *testing.T) {
	const rest = 10 * time.Millisecond
	defer atomics.Rest(rest)()
	var called atomic.Int64
	var again func()
	again = func() {
		called.Add(1)
		atomics.AfterCollection(again)
	}
	began := time.Now()
	atomics.AfterCollection(again)
	for called.Load() < 3 { // else the test runs into its timeout
		runtime.GC()
	}
	for range 100 {
		runtime.GC()
	}
	if n, most := called.Load(), int64(time.Since(began)/rest)+1; n > most {
		t.Errorf("in %v it was called %d times, at most %d were due", time.Since(began), n, most)
	}
}

// What awaits each GC cycle allocates nothing.
func TestAfterCollectionAllocatesNothing(t *testing.T) {
	defer atomics.Rest(0)()
	called := make(chan bool)
	f := func() { called <- true }
	cycle := func() {
		atomics.AfterCollection(f)
		runtime.GC()
		<-called
	}
	cycle()
	if n := testing.AllocsPerRun(20, cycle); n > testing.AllocsPerRun(20, runtime.GC) {
		t.Errorf("%v allocations for each GC cycle", n)
	}
}
