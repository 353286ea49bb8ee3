// Package poolmodel simulates a pool of connections: what its bounds do to reuse, to waiting and
// to how often a connection is made. Its arrivals are those of load/queueing, and so are its waits
// where no bound closes a connection. It is pure arithmetic.
package poolmodel

import (
	"slices"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/load/queueing"
)

// A Pool is the bounds of a pool.
type Pool struct {
	Open, Idle int           // connections at most, and of those that nobody uses
	Lifetime   time.Duration // one that is older is closed; 0: none is
	IdleTime   time.Duration // one that nobody has used for longer is closed; 0: none is
	// FIFO has those that wait served in their order, as pgxpool does. database/sql takes any of
	// them since Go 1.23.
	FIFO bool
}

// A Load is what is asked of a pool.
type Load struct {
	Rate     float64          // loans a second, Poisson
	Hold     queueing.Service // how long a loan lasts
	Dial     time.Duration    // how long it takes to make a connection
	Patience time.Duration    // a loan that waits for longer is given up; 0: none is
}

// A Result is what a simulation had.
type Result struct {
	Loans    int          // that were granted
	TimedOut int          // that were given up
	Made     int          // connections
	Waited   int          // loans that found all connections lent
	Seconds  float64      // that were simulated
	sorted   []float64    // seconds until the connection was there, of the loans that were granted
	closed   [reasons]int // connections
}

// Why a connection is closed.
const (
	byIdle = iota
	byAge
	byIdleTime
	reasons
)

// Reuse is the share of the loans that made no connection.
func (r Result) Reuse() float64 { return 1 - float64(min(r.Made, r.Loans))/float64(r.Loans) }

// MadePerSecond is how many connections were made a second.
func (r Result) MadePerSecond() float64 { return float64(r.Made) / r.Seconds }

// Waiting is the share of the loans that found all connections lent.
func (r Result) Waiting() float64 { return float64(r.Waited) / float64(r.Loans+r.TimedOut) }

// MeanWait is the mean time until a connection was there.
func (r Result) MeanWait() time.Duration {
	sum := 0.0
	for _, w := range r.sorted {
		sum += w
	}
	return time.Duration(sum / float64(len(r.sorted)) * 1e9)
}

// Wait is the time until the connection was there that a share p of the loans did not exceed.
func (r Result) Wait(p float64) time.Duration {
	return time.Duration(quantile.Of(r.sorted, p) * 1e9)
}

// ClosedIdle, ClosedAge and ClosedIdleTime count connections by why they were closed.
func (r Result) ClosedIdle() int     { return r.closed[byIdle] }
func (r Result) ClosedAge() int      { return r.closed[byAge] }
func (r Result) ClosedIdleTime() int { return r.closed[byIdleTime] }

// Simulate lets n loans pass, after a tenth as many that are not counted. The same seed gives the
// same result.
func Simulate(p Pool, l Load, n int, seed uint64) Result {
	s := newSimulation(p, l, seed)
	arrivals := n + n/10
	for {
		if len(s.events) > 0 && (s.arrived == arrivals || s.events[0].at <= s.due) {
			s.step()
			continue
		}
		if s.arrived == arrivals {
			break
		}
		s.now = s.due
		if s.arrived == n/10 {
			s.result, s.begun = Result{}, s.now
		}
		s.counting = s.arrived >= n/10
		s.arrived++
		s.arrive()
		s.due = s.now + s.next()
	}
	s.result.Seconds = s.lastArrival - s.begun
	slices.Sort(s.result.sorted)
	return s.result
}

// Size is the fewest connections at which at most a share of the loans waits, and most where no
// number below is enough. All of them may be idle.
func Size(rate float64, hold time.Duration, share float64, most int) int {
	for open := 1; open < most; open++ {
		if q := (queueing.Queue{Rate: rate, Service: hold, Slots: open}); q.Stable() == nil && q.Waiting() <= share {
			return open
		}
	}
	return most
}
