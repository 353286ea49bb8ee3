//go:build dewpond_explore

package main

import (
	"fmt"
	"slices"

	"github.com/dewpond/dewpond/internal/admission"
)

// The clock of a scenario stands still, unless it has late timers: then time passes, and AllocRate
// allows more misses, before the timers run that are due. On a busy machine other goroutines run in
// between. A thread of its own does that.

// lateTimers lets time pass as often as the scenario says. Each time the timers run later.
func (w *world) lateTimers() {
	for _, misses := range w.scenario.late {
		w.does(nil, func(*operation) {
			for _, gate := range []*admission.Gate{w.gate, w.other} {
				if gate == nil {
					continue
				}
				if again := gate.TimePasses(misses); gate == w.gate {
					w.misses -= again
				}
			}
		})
		w.callTimers()
	}
}

// callTimers calls the timers that are armed.
func (w *world) callTimers() {
	due := w.timers
	w.timers = nil
	for _, f := range due {
		w.does(nil, func(*operation) { f() })
	}
}

// lateScenarios are those with waiters and an AllocRate, with one late timer or two.
func lateScenarios() (late []scenario) {
	for _, of := range []struct {
		name   string
		misses []int
		long   bool
	}{
		{"wake", []int{1, 1}, true},
		{"wake2", []int{1, 1}, true},
		{"wake-full", []int{1, 1}, false},
		{"wake-close", []int{1, 1}, false},
		{"turns-limit", []int{1, 1}, false},
		{"turns-claim", []int{1}, true},
		{"miss", []int{1, 1}, false},
		{"miss-cancel", []int{1, 1}, false},
		{"cancel", []int{1, 1}, false},
		{"cancel-next", []int{1, 1}, false},
		{"close-hand", []int{1, 1}, false},
		{"batch", []int{1, 2}, false},
		{"batch-puts", []int{1, 2}, true},
		{"batch-next", []int{1, 2}, true},
		{"batches", []int{2, 2}, false},
		{"batch-cancel", []int{1, 1}, true},
		{"batch-line", []int{1, 1}, false},
		{"batch-limit", []int{1, 1}, false},
		{"batch-limit-room", []int{1, 1}, false},
		{"batch-never", []int{1, 1}, false},
		{"batch-close", []int{1, 1}, false},
		{"batch-closes", []int{1, 1}, false},
		{"batch-brings-first", []int{1, 2}, false},
		{"batch-take-back", []int{1, 1}, false},
		{"batch-in-line", []int{1, 1}, false},
	} {
		i := slices.IndexFunc(scenarios, func(s scenario) bool { return s.name == of.name })
		s := scenarios[i]
		s.name = fmt.Sprint(s.name, "-late", len(of.misses))
		s.about, s.late, s.long = s.about+"; timers are late", of.misses, of.long
		late = append(late, s)
	}
	return late
}
