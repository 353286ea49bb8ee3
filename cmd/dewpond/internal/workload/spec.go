// Package workload drives a contender through a scenario and measures it. Run is
// called in a child process of its own for each round, so that heap, resident
// memory and process-wide pools are clean.
//
// A scenario is a file: mixed.go (its goroutines are in crew.go and worker.go, its
// open mode in open.go), micro.go, burst.go, window.go. spec.go says what they are
// asked, run.go what they share.
package workload

import (
	"fmt"
	"strings"
	"time"
)

// A Spec is one round of one contender: what the parent process asks of a child.
type Spec struct {
	Scenario    string
	Contender   string
	Round       int
	Open        bool // open mode: arrivals by the clock, not by completion
	Goroutines  int
	Mix         Mix
	Hold        Hold
	Garbage     int64   // bytes a second of unrelated garbage
	Rate        float64 // arrivals a second, open mode
	Sample      int     // one in so many operations is timed
	Duration    time.Duration
	Blocks      int // held at once by burst and window
	Collections int // that pass between burst's bursts
}

// A Scenario is a way to use a pool.
type Scenario struct {
	Name     string
	About    string // for --help
	Defaults Spec
	// QuickRounds is how many rounds --quick has time for.
	QuickRounds int
	// Clearing says whether contenders clear their blocks.
	Clearing bool
	// Uses are the flags that the scenario heeds beside those that all do.
	Uses []string
	// Tools says whether rounds go on with the contender's tools, if it has any.
	Tools bool
	run   func(*job) error
}

// Zero is the policy that the scenario's contenders follow, in words.
func (s Scenario) Zero() string {
	if s.Clearing {
		return "on Put (grpc-mem: on Get)"
	}
	return "never (grpc-mem: on Get)"
}

// Scenarios are all there are, the default first.
func Scenarios() []Scenario { return []Scenario{mixed, micro, burst, window} }

// Find returns the scenario of that name.
func Find(name string) (Scenario, error) {
	var names []string
	for _, s := range Scenarios() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	return Scenario{}, fmt.Errorf("unknown scenario %q: valid are %s", name, strings.Join(names, ", "))
}
