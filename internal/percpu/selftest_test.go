//go:build !dewpond_explore

package percpu

import (
	"runtime"
	"strings"
	"testing"
)

// On this Go a pin is what the pinned engine says, with one P, two and more.
func TestSelfTest(t *testing.T) {
	if !Pinned {
		t.Skip("nothing is pinned: ", Engine())
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, procs := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(procs)
		for {
			watched, err := selfTest(Pin, Unpin)
			if err != nil {
				t.Fatalf("GOMAXPROCS %d: %v", procs, err)
			}
			if watched > 0 || runtime.GOMAXPROCS(0) == 1 {
				break
			}
		}
	}
}

// fakes are ways in which a pin may be none.
var fakes = []struct {
	what  string
	procs int
	pin   func() int
	unpin func()
	want  string
}{
	{"nothing", 2, func() int { return 0 }, func() {}, ""},
	{"nothing, on one P", 1, func() int { return 0 }, func() {}, ""},
	{"an id that is not held", 2, momentary, func() {}, "the world was stopped while a goroutine was pinned"},
	{"an id that is not held, on one P", 1, momentary, func() {}, "the world was stopped while a goroutine was pinned"},
	{"one id for all", 2, func() int { Pin(); return 0 }, Unpin, "two goroutines were pinned to P 0 at once"},
	{"ids from 1", 1, func() int { return Pin() + 1 }, Unpin, "the id of a P is 1 where GOMAXPROCS is 1"},
	{"no id", 2, func() int { Pin(); return -1 }, Unpin, "the id of a P is -1 where GOMAXPROCS is 2"},
}

func momentary() int {
	id := Pin()
	Unpin()
	return id
}

// A busy machine hides from one self test what another finds, so this asks until one does.
func TestSelfTestFinds(t *testing.T) {
	if !Pinned || runtime.GOARCH == "wasm" {
		t.Skip("no other goroutine runs, or nothing is pinned: ", Engine())
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, tt := range fakes {
		t.Run(tt.what, func(t *testing.T) {
			runtime.GOMAXPROCS(tt.procs)
			for {
				if _, err := selfTest(tt.pin, tt.unpin); err != nil && strings.Contains(err.Error(), tt.want) {
					return
				}
			}
		})
	}
}

// The panic says what to do.
func TestMustPass(t *testing.T) {
	if !Pinned {
		t.Skip("nothing is pinned: ", Engine())
	}
	defer func() {
		text, _ := recover().(string)
		for _, want := range []string{"dewpond: " + runtime.Version(), "the id of a P is -1", "build without the tag dewpond_pinned"} {
			if !strings.Contains(text, want) {
				t.Errorf("panic %q lacks %q", text, want)
			}
		}
	}()
	mustPass(func() int { Pin(); return -1 }, Unpin)
}
