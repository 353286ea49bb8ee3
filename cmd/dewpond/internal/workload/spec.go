// Package workload drives a contender through a scenario and measures it. Run is
// called in a child process of its own for each round, so that heap, resident
// memory and process-wide pools are clean.
//
// A scenario is a file: mixed.go (its goroutines are in crew.go and worker.go, its
// open mode in open.go), micro.go, burst.go, churn.go (its goroutines are in
// client.go), window.go; or a package, as soak is. spec.go says what they are asked,
// run.go what they share; sampler.go looks at burst, churn and soak while they run.
package workload

import (
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
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
	Live        int64   // bytes that the process keeps alive beside the pool
	Rate        float64 // arrivals a second in open mode, operations a second in churn and soak
	Sample      int     // one in so many operations is timed
	Duration    time.Duration
	Blocks      int           // held at once by burst, churn's bursts and window
	Collections int           // that pass between burst's bursts
	Every       time.Duration // from one of churn's bursts to the next; soak: from one new pool to the next
	IdleTimeout time.Duration // dewpond's; 0: its default
}

// A Scenario is a way to use a pool.
type Scenario struct {
	Name     string
	About    string // for --help
	Defaults Spec
	// Rounds is how many there are where nobody says; 0: the usual number.
	Rounds int
	// QuickRounds is how many rounds --quick has time for.
	QuickRounds int
	// QuickDuration is Duration with --quick; 0: the usual part of it.
	QuickDuration time.Duration
	// Shared says that Duration is of all rounds of all contenders together.
	Shared bool
	// Clearing says whether contenders clear their blocks.
	Clearing bool
	// Paced says that operations come due by the clock, Rate of them a second.
	Paced bool
	// Holding says that owners may hold a block between Get and Put: Spec.Hold.
	Holding bool
	// Tools says whether rounds go on with the contender's tools, if it has any.
	Tools bool
	// Contenders take part where nobody says who shall; nil: the usual ones, and
	// Variants of dewpond beside them.
	Contenders, Variants []string
	// Drive does it, in a process of its own.
	Drive func(*Job) error
}

// Entrants are the contenders that take part where nobody says who shall.
func (s Scenario) Entrants() []string {
	if s.Contenders != nil {
		return s.Contenders
	}
	return append(contender.Usual(), s.Variants...)
}

// Zero is the policy that the scenario's contenders follow, in words.
func (s Scenario) Zero() string {
	if s.Clearing {
		return "on Put (grpc-mem: on Get)"
	}
	return "never (grpc-mem: on Get)"
}
