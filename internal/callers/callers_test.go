package callers

import (
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/go125"
)

// functions returns the names on a stack, of this package's and testing's functions
// only, without the wrappers that a compiler may make of a deferred or a go call.
func functions(pcs []uintptr) (names []string) {
	frames := runtime.CallersFrames(pcs)
	for {
		f, more := frames.Next()
		if f.Function != "" && !strings.HasPrefix(f.Function, "runtime.") && !strings.Contains(f.Function, "wrap") {
			names = append(names, f.Function)
		}
		if !more {
			return names
		}
	}
}

// same compares a stack with what the runtime returns.
func same(t *testing.T) {
	t.Helper()
	var ours, theirs [64]uintptr
	got := functions(ours[:Callers(ours[:])])
	want := functions(theirs[:runtime.Callers(1, theirs[:])])
	if !slices.Equal(got, want) && !slices.Equal(got, want[1:]) || len(want) < 2 {
		t.Errorf("got %q\nwant %q", got, want)
	}
}

type caller struct{ t *testing.T }

//go:noinline
func (c caller) Same() { same(c.t) }

func inlined(t *testing.T) { caller{t}.Same() }

//go:noinline
func deep(t *testing.T, n int) {
	var room [200]byte // so that the stack grows, and moves
	if n > 0 {
		deep(t, n-1)
	} else {
		same(t)
	}
	runtime.KeepAlive(&room)
}

//go:noinline
func generic[T any](t *testing.T, v T) {
	same(t)
	runtime.KeepAlive(v)
}

func TestCallers(t *testing.T) {
	same(t)
	inlined(t)
	caller{t}.Same()
	interface{ Same() }(&caller{t}).Same() // through a wrapper
	caller.Same(caller{t})
	generic(t, 1)
	generic(t, "one")
	func() { same(t) }()
	slices.SortFunc([]int{1, 2}, func(a, b int) int { same(t); return a - b })
	for range func(yield func() bool) { yield() } {
		same(t)
	}
	for n := range 12 {
		deep(t, n*4)
	}
	func() {
		defer same(t)
	}()
	done := make(chan bool)
	go func() {
		defer close(done)
		same(t)
		deep(t, 20)
	}()
	<-done
	func() {
		defer func() {
			recover()
			same(t)
		}()
		panic(1)
	}()
	same(t) // the recovery has jumped over frames
}

// A walk stops at the end of the slice, and writes nothing behind it.
func TestCallersStops(t *testing.T) {
	deepest := func(n int) {
		pcs := make([]uintptr, n, n+8)
		if got := Callers(pcs); got > n || n < 3 && got != n || pcs[:n+1][n] != 0 {
			t.Errorf("%d of %d", got, n)
		}
	}
	for n := range 40 {
		deepest(n)
	}
}

// Walks are correct while collections shrink stacks and goroutines are preempted.
func TestCallersBesideTheCollector(t *testing.T) {
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	var wg go125.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range rounds {
				deep(t, i%60)
			}
		})
	}
	stop := make(chan bool)
	go func() {
		for {
			select {
			case <-stop:
				return
			default:
				runtime.GC()
			}
		}
	}()
	wg.Wait()
	close(stop)
}

func BenchmarkCallers(b *testing.B) {
	var pcs [16]uintptr
	b.Run("frame-pointers", func(b *testing.B) {
		for b.Loop() {
			Callers(pcs[:])
		}
	})
	b.Run("runtime", func(b *testing.B) {
		for b.Loop() {
			runtime.Callers(1, pcs[:])
		}
	})
}
