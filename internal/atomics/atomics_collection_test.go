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

// One goroutine calls all that wait for a collection. If a function takes until the next
// collection, another goroutine goes on, and also if a function ends its goroutine.
func TestAfterCollectionStartsOneGoroutine(t *testing.T) {
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
