// Package workload drives a contender through a scenario and measures it. Run is called in a new
// child process for each round, so that the heap, resident memory and process-wide pools are
// clean.
//
// A scenario is a file: mixed.go (its goroutines are in crew.go and worker.go, those that pass blocks on in belt.go, its open mode in
// open.go), micro.go, burst.go, churn.go (its goroutines are in client.go), flood.go, misuse.go
// (what it seeds is in seed.go, what is found in finder.go), window.go, beyond.go (its bursts are those of burst.go). spec.go holds their parameters,
// run.go what they share; sampler.go watches burst and churn while they run.
package workload

import (
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
)

// A Spec describes one round of one contender: the parent process sends it to the child.
type Spec struct {
	Scenario    string
	Contender   string
	Round       int
	Open        bool // open mode: arrivals by the clock, not by completion
	Goroutines  int
	Mix         Mix
	Hold        Hold
	Garbage     int64   // bytes of unrelated garbage a second
	Live        int64   // bytes that the process keeps alive beside the pool
	MemoryLimit int64   // the process's GOMEMLIMIT in bytes; 0: as it finds it
	Rate        float64 // arrivals a second in open mode and in flood, operations a second in churn
	Limit       int64   // bytes that flood allows to be out at once
	Times       float64 // the traffic of flood, in multiples of what Limit allows
	Sample      int     // one in so many operations is timed
	Pairs       bool    // mixed, burst and beyond also time the Get and the Put of a block together, mixed the whole operation, and beyond counts collections
	Duration    time.Duration
	Blocks      int           // held at once by burst, beyond, churn's bursts and window
	Bursts      int           // of beyond
	Written     int64         // bytes of each block of beyond; mixed: at the beginning, besides the mark at both ends, 0 for all
	SecondSize  int           // of the requests between two bursts of beyond; 0: there are none
	Collections int           // between two bursts of burst and beyond
	Every       time.Duration // between two bursts of churn
	Seeds       int           // of each kind of misuse
	Late        time.Duration // how long after Put a block is misused at most
	IdleTimeout time.Duration // dewpond's; 0: its default
	NoTools     bool          // leave out the contender's tools
	Clearing    bool          // contenders clear their blocks
	ZeroDefault bool          // dewpond has its default zeroing policy, whatever the others do
}

// A Scenario is a way to use a pool.
type Scenario struct {
	Name     string
	About    string // for --help
	Defaults Spec
	// Rounds is the default number of rounds; 0: the usual number.
	Rounds int
	// QuickRounds is the number of rounds with --quick.
	QuickRounds int
	// QuickDuration is Duration with --quick; 0: the usual part of it.
	QuickDuration time.Duration
	// Paced means that operations are due by the clock, Rate of them a second.
	Paced bool
	// Holding means that owners may hold a block between Get and Put: Spec.Hold.
	Holding bool
	// Bursts means that Blocks are got together and put back together: contenders have room for
	// them.
	Bursts bool
	// Tools means that rounds also run the contender's tools, if it has any.
	Tools bool
	// Contenders take part by default; nil: the usual contenders, and Variants of dewpond
	// besides them.
	Contenders, Variants []string
	// Drive runs a round, in a process of its own.
	Drive func(*Job) error
}

// Entrants returns the contenders that take part by default.
func (s Scenario) Entrants() []string {
	if s.Contenders != nil {
		return s.Contenders
	}
	return append(contender.Usual(), s.Variants...)
}

// Excludes returns why a contender cannot take part in a scenario with this spec. It is empty if it
// can.
func (s Scenario) Excludes(c contender.Contender, spec Spec) string {
	switch {
	case c.OneSize && (len(spec.Mix) > 1 || spec.SecondSize > 0):
		return "its blocks are of one size"
	case c.Private && spec.Hold.Pass:
		return "what one goroutine gets another cannot put back"
	}
	return ""
}

// room returns how many blocks of each size are put back together.
func (s Spec) room() map[int]int {
	room := map[int]int{}
	for _, p := range s.Mix {
		room[p.Size] = s.Blocks
	}
	if s.SecondSize > 0 {
		room[s.SecondSize] = max(room[s.SecondSize], secondBatch)
	}
	return room
}

// Zero describes the zeroing policy of the contenders.
func (s Spec) Zero() string {
	if s.Clearing {
		return "on Put (grpc-mem: on Get)"
	}
	if s.ZeroDefault {
		return "dewpond on Put, its default; the others never (grpc-mem: on Get)"
	}
	return "never (grpc-mem: on Get)"
}

// Policy names the zeroing policy of dewpond's pools.
func (s Spec) Policy() string {
	if s.Clearing || s.ZeroDefault {
		return "ZeroOnPut"
	}
	return "ZeroNever"
}
