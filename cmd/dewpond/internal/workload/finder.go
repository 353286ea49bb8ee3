package workload

import (
	"reflect"
	"runtime"
	"sync"

	"github.com/dewpond/dewpond/misuse"
)

// A finder holds each report of misuse to the seed that it is about. Only what a pool reports
// counts, and a report without a seed of its own is a false one.
type finder struct {
	mu     sync.Mutex
	now    *seed            // whose misuse is under way
	writes map[string]*seed // whose write is done or under way, by mark
	found  map[misdeed]int
	wrong  int // reports without a seed, and second reports of one
}

func newFinder() *finder { return &finder{writes: map[string]*seed{}, found: map[misdeed]int{}} }

// begin says that a seed's misuse begins, and end that it is done. A write is found later: it
// remains to be found.
func (f *finder) begin(s *seed) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = s
	if s.misdeed == writeAfterPut {
		f.writes[s.mark] = s
	}
}

func (f *finder) end() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.now = nil
}

// report is the pool's OnViolation.
func (f *finder) report(v misuse.Violation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.seedOf(v)
	if s == nil || s.found {
		f.wrong++
		return
	}
	s.found = true
	f.found[s.misdeed]++
}

// seedOf returns the seed of a report, or nil. A write is known by its mark. What is found at once is
// the misuse that is under way, if the stack goes through it: other goroutines use the pool too.
func (f *finder) seedOf(v misuse.Violation) *seed {
	switch {
	case v.Kind == misuse.WriteAfterPut:
		return f.writes[string(v.New)]
	case f.now == nil || !passes(v.Offence, misusing):
		return nil
	case v.Kind == misuse.DoublePut && f.now.misdeed == doublePut, v.Kind == misuse.UseAfterPut && f.now.misdeed != doublePut:
		return f.now
	}
	return nil
}

// misusing is the name of the function that does a seed's misuse.
var misusing = runtime.FuncForPC(reflect.ValueOf((*seed).misuse).Pointer()).Name()

// passes reports whether a stack goes through a function.
func passes(stack []uintptr, function string) bool {
	if len(stack) == 0 {
		return false
	}
	frames := runtime.CallersFrames(stack)
	for more := true; more; {
		var f runtime.Frame
		if f, more = frames.Next(); f.Function == function {
			return true
		}
	}
	return false
}
