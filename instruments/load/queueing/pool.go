package queueing

import (
	"slices"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/quantile"
)

// A Pool is the bounds of a pool of connections, which serves arrivals as a [Queue] does whose
// slots have to be made first and may be closed again.
type Pool struct {
	Open, Idle int           // connections at most, and of those that nobody uses
	Lifetime   time.Duration // one that is older is closed; 0: none is
	IdleTime   time.Duration // one that nobody has used for longer is closed; 0: none is
	// FIFO has those that wait served in their order, as pgxpool does. database/sql takes any of
	// them since Go 1.23.
	FIFO bool
}

// A Demand is what is asked of a pool.
type Demand struct {
	Rate     float64       // arrivals a second, Poisson
	Hold     Service       // how long each has a connection
	Dial     time.Duration // how long it takes to make a connection
	Patience time.Duration // an arrival that waits for longer is given up; 0: none is
}

// A Simulation is what was simulated.
type Simulation struct {
	Served   int     // arrivals that got a connection or a slot
	TimedOut int     // arrivals that were given up
	Made     int     // connections
	Waited   int     // arrivals that found all connections or slots taken
	Seconds  float64 // that were simulated

	waits     []float64    // in seconds, of the arrivals that were served; sorted
	responses []float64    // waits and service, also sorted
	closed    [reasons]int // connections
}

// Why a connection is closed.
const (
	byIdle = iota
	byAge
	byIdleTime
	reasons
)

// Reuse returns the share of those served that made no connection.
func (s Simulation) Reuse() float64 { return 1 - float64(min(s.Made, s.Served))/float64(s.Served) }

// MadePerSecond returns how many connections were made a second.
func (s Simulation) MadePerSecond() float64 { return float64(s.Made) / s.Seconds }

// Waiting returns the share of arrivals that found all connections or slots taken.
func (s Simulation) Waiting() float64 { return float64(s.Waited) / float64(s.Served+s.TimedOut) }

// MeanWait returns the mean time until service began.
func (s Simulation) MeanWait() time.Duration { return mean(s.waits) }

// Wait returns the time until service began that a share p of those served, from 0 to 1, did not
// exceed.
func (s Simulation) Wait(p float64) time.Duration { return seconds(quantile.Of(s.waits, p)) }

// Mean returns the mean response: the wait and the service.
func (s Simulation) Mean() time.Duration { return mean(s.responses) }

// Quantile returns the response that a share p of those served, from 0 to 1, did not exceed.
func (s Simulation) Quantile(p float64) time.Duration { return seconds(quantile.Of(s.responses, p)) }

func mean(v []float64) time.Duration {
	sum := 0.0
	for _, s := range v {
		sum += s
	}
	return seconds(sum / float64(len(v)))
}

func seconds(s float64) time.Duration { return time.Duration(s * 1e9) }

// Simulate lets n arrivals pass through the queue, whose Service is not used, after a tenth as
// many that are not counted. The same seed gives the same simulation.
func Simulate(q Queue, service Service, n int, seed uint64) Simulation {
	return Pool{Open: q.Slots, Idle: q.Slots, FIFO: true}.Simulate(Demand{Rate: q.Rate, Hold: service}, n, seed)
}

// Simulate lets n arrivals pass, after a tenth as many that are not counted. The same seed gives
// the same simulation.
func (p Pool) Simulate(d Demand, n int, seed uint64) Simulation {
	s := newSimulator(p, d, seed)
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
			s.out, s.begun = Simulation{}, s.now
		}
		s.counting = s.arrived >= n/10
		s.arrived++
		s.arrive()
		s.due = s.now + s.next()
	}
	s.out.Seconds = s.lastArrival - s.begun
	slices.Sort(s.out.waits)
	slices.Sort(s.out.responses)
	return s.out
}

// Slots returns the fewest slots at which at most a share of the arrivals waits, and most where no
// number below is enough.
func Slots(rate float64, service time.Duration, share float64, most int) int {
	for slots := 1; slots < most; slots++ {
		if q := (Queue{Rate: rate, Service: service, Slots: slots}); q.Stable() == nil && q.Waiting() <= share {
			return slots
		}
	}
	return most
}
