package rig

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/load/queueing"
)

// A demanded is a pool and what is asked of it: loans of hold, in the mean.
type demanded struct {
	pool   queueing.Pool
	demand queueing.Demand
	hold   time.Duration
}

// load is how many of the connections are busy, as a share.
func (d demanded) load() float64 { return d.demand.Rate * d.hold.Seconds() / float64(d.pool.Open) }

// A parameter is what is changed by itself.
type parameter struct {
	name   string
	change func(d *demanded, by float64)
}

var (
	ofOpen = parameter{"max open", func(d *demanded, by float64) {
		d.pool.Open = max(1, int(math.Round(float64(d.pool.Open)*by)))
		d.pool.Idle = min(d.pool.Idle, d.pool.Open)
	}}
	ofIdle = parameter{"max idle", func(d *demanded, by float64) {
		d.pool.Idle = min(d.pool.Open, max(1, int(math.Round(float64(d.pool.Idle)*by))))
	}}
	ofRate     = parameter{"rate", func(d *demanded, by float64) { d.demand.Rate *= by }}
	ofLifetime = parameter{"lifetime", func(d *demanded, by float64) { d.pool.Lifetime = time.Duration(float64(d.pool.Lifetime) * by) }}
)

// A trial is what a parameter does: with a fifth less, as it is, and with a fifth more.
type trial [3]queueing.Simulation

// try simulates n arrivals of each. Another seed is another chance.
func (p parameter) try(base demanded, n int, seed uint64) (t trial) {
	for i, by := range []float64{0.8, 1, 1.2} {
		d := base
		p.change(&d, by)
		t[i] = d.pool.Simulate(d.demand, n, seed)
	}
	return t
}

// Figures of a simulation that nobody would tell from none.
const (
	fewMade  = 0.05 // connections a second
	fewWaits = 10 * time.Microsecond
)

// moves reports whether a fifth more or less of the parameter changes the connections that are made, or the
// P99 of the wait, by a tenth or more. Chance does so too, but not with each of two seeds and in one direction.
func (p parameter) moves(base demanded) bool {
	made, wait := p.directions(base, 1)
	if made == 0 && wait == 0 {
		return false
	}
	madeAgain, waitAgain := p.directions(base, 2)
	return made != 0 && made == madeAgain || wait != 0 && wait == waitAgain
}

// directions say of the connections that are made, and of the P99 of the wait, whether more of the parameter
// makes them more or less; 0 where that is less than a tenth.
func (p parameter) directions(base demanded, seed uint64) (made, wait int) {
	t := p.try(base, lookArrivals, seed)
	return direction(t[0].MadePerSecond(), t[2].MadePerSecond(), fewMade),
		direction(float64(t[0].Wait(0.99)), float64(t[2].Wait(0.99)), float64(fewWaits))
}

func direction(less, more, few float64) int {
	if max(less, more) < few || math.Abs(less-more) < 0.1*max(less, more) {
		return 0
	}
	return cmp.Compare(more, less)
}

func (t trial) cells() (cells []string) {
	for _, s := range t {
		cells = append(cells, fmt.Sprintf("%.4f; %.3f; %v", s.Reuse(), s.MadePerSecond(), s.Wait(0.99).Round(10*time.Microsecond)))
	}
	return cells
}

// How many arrivals are simulated: to look for a load, and for what is shown.
const (
	lookArrivals = 40_000
	showArrivals = 200_000
)

// mostLoad is up to which load one is looked for. Above it a fifth more is more than the pool can do, and
// there is no steady state to compare.
const mostLoad = 0.8

// movingRate returns the lowest rate, from the given one on, at which a fifth of both bounds on connections
// moves something; it is off by a twentieth at most. False means that there is none up to mostLoad.
func movingRate(base demanded) (float64, bool) {
	moves := func(rate float64) bool {
		base.demand.Rate = rate
		return ofOpen.moves(base) && ofIdle.moves(base)
	}
	low, high := base.demand.Rate, mostLoad*float64(base.pool.Open)/base.hold.Seconds()
	if moves(low) {
		return low, true
	}
	if high <= low || !moves(high) {
		return low, false
	}
	for high > 1.05*low {
		if middle := math.Sqrt(low * high); moves(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high, true
}

// movingLifetime returns the longest lifetime, halved from the given one on, of which a fifth moves something
// in the time that is simulated.
func movingLifetime(base demanded) (time.Duration, bool) {
	for base.pool.Lifetime >= 100*time.Millisecond {
		if ofLifetime.moves(base) {
			return base.pool.Lifetime, true
		}
		base.pool.Lifetime /= 2
	}
	return 0, false
}

// sensitivity says what a fifth more or less of one parameter changes, by the simulation, at a load at which
// something changes.
func (c *poolsCommand) sensitivity(out io.Writer, dial time.Duration) error {
	base := demanded{queueing.Pool{Open: c.Open, Idle: c.Idle, Lifetime: c.Lifetime}, c.load(c.Hold, dial), c.Hold}
	given := base
	at, found := movingRate(base)
	base.demand.Rate = at
	switch {
	case !found:
		fmt.Fprintf(out, "\nUp to a load of %g there is none at which a fifth of either bound moves something. So this is at %.0f loans a second.\n", mostLoad, at)
	case at > given.demand.Rate:
		fmt.Fprintf(out, "\nAt %.0f loans a second, a load of %.2f, a fifth of one of the bounds, or of both, moves nothing. This is at %.0f a second, a load of %.2f, the least at which either bound moves something.\n",
			given.demand.Rate, given.load(), at, base.load())
	default:
		fmt.Fprintf(out, "\nAt %.0f loans a second, a load of %.2f, either bound moves something.\n", at, base.load())
	}
	fmt.Fprintln(out, "A fifth less and a fifth more of one parameter, simulated (reuse; made a second; P99 of the wait):")
	rows := [][]string{{"parameter", "less", "as it is", "more"}}
	for _, p := range []parameter{ofOpen, ofIdle, ofRate} {
		rows = append(rows, append([]string{p.name}, p.try(base, showArrivals, 1).cells()...))
	}
	if c.Lifetime > 0 {
		simulated := time.Duration(showArrivals / at * 1e9)
		name := fmt.Sprintf("lifetime %v", c.Lifetime)
		if shorter, ok := movingLifetime(base); ok && shorter < c.Lifetime {
			base.pool.Lifetime = shorter
			name = fmt.Sprintf("lifetime %v, for in %v none is %v old", shorter.Round(time.Millisecond), simulated.Round(time.Second), c.Lifetime)
		}
		rows = append(rows, append([]string{name}, ofLifetime.try(base, showArrivals, 1).cells()...))
	}
	return columns.Write(out, rows)
}
