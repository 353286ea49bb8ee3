// Package queueing has the formulas of a service with several slots and one queue before them
// (M/M/c: Poisson arrivals, exponential service times), and a simulation for other service times and
// for pools of connections, whose bounds change reuse, waiting and how often a connection is made. It
// is pure arithmetic.
package queueing

import (
	"fmt"
	"math"
	"time"
)

// ErlangB returns the share of arrivals that find all slots taken where nobody waits. offered is
// the load in Erlang: arrivals a second times seconds of service.
func ErlangB(slots int, offered float64) float64 {
	b := 1.0
	for k := 1; k <= slots; k++ {
		b = offered * b / (float64(k) + offered*b)
	}
	return b
}

// ErlangC returns the share of arrivals that wait, where all wait until a slot is free. It is 1
// where the offered load is not below the number of slots.
func ErlangC(slots int, offered float64) float64 {
	if offered >= float64(slots) {
		return 1
	}
	b := ErlangB(slots, offered)
	load := offered / float64(slots)
	return b / (1 - load*(1-b))
}

// A Queue is a service: arrivals wait in one queue until one of its slots is free.
type Queue struct {
	Rate    float64       // arrivals a second
	Service time.Duration // mean, without the wait
	Slots   int           // how many are served at once
}

// An UnstableError is a service that is asked more than it can do.
type UnstableError struct{ Growth float64 } // of the queue, in arrivals a second

func (e UnstableError) Error() string {
	if e.Growth <= 0 {
		return "no steady state: at a load of 1 the queue grows without bound"
	}
	return fmt.Sprintf("no steady state: the queue grows by %.3g a second", e.Growth)
}

// Offered returns the offered load in Erlang, which is also how many slots are busy.
func (q Queue) Offered() float64 { return q.Rate * q.Service.Seconds() }

// Load returns the share of the slots that are busy.
func (q Queue) Load() float64 { return q.Offered() / float64(q.Slots) }

// Stable returns an [UnstableError] if the load is 1 or more.
func (q Queue) Stable() error {
	if q.Load() < 1 {
		return nil
	}
	return UnstableError{q.Rate - float64(q.Slots)/q.Service.Seconds()}
}

// Waiting returns the share of arrivals that wait.
func (q Queue) Waiting() float64 { return ErlangC(q.Slots, q.Offered()) }

// MeanWait returns the mean time in the queue. The queue must be stable.
func (q Queue) MeanWait() time.Duration {
	return time.Duration(q.Waiting() / (float64(q.Slots) - q.Offered()) * float64(q.Service))
}

// Mean returns the mean response: the wait and the service.
func (q Queue) Mean() time.Duration { return q.MeanWait() + q.Service }

// Quantile returns the response that a share p of the arrivals, from 0 to 1, does not exceed. The
// queue must be stable.
func (q Queue) Quantile(p float64) time.Duration {
	low, high := 0.0, 1.0 // in service times
	for q.beyond(high) > 1-p {
		high *= 2
	}
	for range 60 {
		middle := (low + high) / 2
		if q.beyond(middle) > 1-p {
			low = middle
		} else {
			high = middle
		}
	}
	return time.Duration(high * float64(q.Service))
}

// beyond returns the share of arrivals whose response is longer than x service times.
func (q Queue) beyond(x float64) float64 {
	waiting := q.Waiting()
	// The wait ends at a rate of slots - offered, the service at a rate of 1.
	d := float64(q.Slots) - 1 - q.Offered()
	if math.Abs(d) < 1e-9 {
		return math.Exp(-x) * (1 + waiting*x)
	}
	return math.Exp(-x) * (1 + waiting*(1-math.Exp(-x*d))/d)
}

// RateFor returns the highest rate at which the p quantile of the response is below a limit, and 0
// if there is none.
func (q Queue) RateFor(p float64, limit time.Duration) float64 {
	low, high := 0.0, float64(q.Slots)/q.Service.Seconds()
	for range 60 {
		q.Rate = (low + high) / 2
		if q.Quantile(p) < limit {
			low = q.Rate
		} else {
			high = q.Rate
		}
	}
	return low
}

// InFlight returns how many are on their way at once at a rate and a mean response: Little's law,
// which holds for every system in a steady state, whatever its arrivals and its service are.
func InFlight(rate float64, response time.Duration) float64 { return rate * response.Seconds() }

// Little reports whether three figures of one run can all be true: how many were in flight is
// within a share of what Little's law says, or within 1 of it.
func Little(inFlight, rate float64, response time.Duration, within float64) bool {
	want := InFlight(rate, response)
	return math.Abs(inFlight-want) <= max(1, within*max(want, inFlight))
}
