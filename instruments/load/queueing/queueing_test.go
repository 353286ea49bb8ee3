package queueing_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/load/queueing"
)

func within(got, want, share float64) bool { return math.Abs(got-want) <= share*want }

// TestKnownValues has values from the literature, and those of M/M/1, which are simple.
func TestKnownValues(t *testing.T) {
	if b := queueing.ErlangB(10, 5); !within(b, 0.0184, 0.01) {
		t.Errorf("Erlang B of 10 slots at 5 is %v, want 0.0184", b)
	}
	if c := queueing.ErlangC(4, 2.2); !within(c, 0.2268, 0.001) {
		t.Errorf("Erlang C of 4 slots at 2.2 is %v, want 0.2268", c)
	}
	for _, load := range []float64{0.1, 0.5, 0.9} {
		q := queueing.Queue{Rate: 100 * load, Service: 10 * time.Millisecond, Slots: 1}
		mean := 0.01 / (1 - load)
		if !within(q.Waiting(), load, 1e-9) || !within(q.Mean().Seconds(), mean, 1e-6) {
			t.Errorf("M/M/1 at %v: waiting %v, mean %v", load, q.Waiting(), q.Mean())
		}
		// The response of M/M/1 is exponential.
		if got, want := q.Quantile(0.99).Seconds(), mean*math.Log(100); !within(got, want, 1e-6) {
			t.Errorf("M/M/1 at %v: P99 %v, want %v", load, got, want)
		}
	}
}

func TestQuantiles(t *testing.T) {
	for load, p99 := range map[float64]float64{0.55: 53, 0.77: 70} {
		const service = 11060 * time.Microsecond // what a server that sleeps 10 ms was measured to take
		q := queueing.Queue{Rate: 4 * load / service.Seconds(), Service: service, Slots: 4}
		if got := q.Quantile(0.99).Seconds() * 1000; !within(got, p99, 0.02) {
			t.Errorf("P99 at load %v is %v ms, want %v", load, got, p99)
		}
	}
	// At 3 of 4 slots the wait and the service end at the same rate, a case of its own in the
	// formula.
	beside := queueing.Queue{Rate: 300.001, Service: 10 * time.Millisecond, Slots: 4}
	at := queueing.Queue{Rate: 300, Service: 10 * time.Millisecond, Slots: 4}
	if !within(at.Quantile(0.99).Seconds(), beside.Quantile(0.99).Seconds(), 1e-4) {
		t.Errorf("%v at 300/s, %v beside it", at.Quantile(0.99), beside.Quantile(0.99))
	}
	q := queueing.Queue{Service: 11060 * time.Microsecond, Slots: 4}
	if rate := q.RateFor(0.99, 100*time.Millisecond); !within(rate, 311, 0.01) {
		t.Errorf("P99 is below 100 ms up to %v/s, want 311", rate)
	}
}

func TestUnstable(t *testing.T) {
	var unstable queueing.UnstableError
	q := queueing.Queue{Rate: 500, Service: 10 * time.Millisecond, Slots: 4}
	if err := q.Stable(); !errors.As(err, &unstable) || !within(unstable.Growth, 100, 1e-9) {
		t.Errorf("the error is %v", err)
	}
	if q.Rate = 399; q.Stable() != nil || q.Waiting() > 1 {
		t.Errorf("399/s of 400: %v, waiting %v", q.Stable(), q.Waiting())
	}
}

// TestLittle has a published row that cannot be true, and one that can.
func TestLittle(t *testing.T) {
	if queueing.Little(4000, 12_840, 86*time.Millisecond, 0.1) {
		t.Error("4000 connections, 12840/s and 86 ms: 1104 are in flight")
	}
	if !queueing.Little(1100, 12_840, 86*time.Millisecond, 0.1) {
		t.Error("1100 in flight, 12840/s and 86 ms are refused")
	}
}

// TestSimulation wants the simulation to agree with the formulas where both apply.
func TestSimulation(t *testing.T) {
	for _, load := range []float64{0.55, 0.77} {
		q := queueing.Queue{Rate: 400 * load, Service: 10 * time.Millisecond, Slots: 4}
		r := queueing.Simulate(q, queueing.Exponential(q.Service), 2_000_000, 1)
		for name, pair := range map[string][2]float64{
			"waiting": {r.Waiting(), q.Waiting()},
			"mean":    {r.Mean().Seconds(), q.Mean().Seconds()},
			"P50":     {r.Quantile(0.5).Seconds(), q.Quantile(0.5).Seconds()},
			"P99":     {r.Quantile(0.99).Seconds(), q.Quantile(0.99).Seconds()},
		} {
			if !within(pair[0], pair[1], 0.02) {
				t.Errorf("load %v: %s is %v by simulation, %v by the formula", load, name, pair[0], pair[1])
			}
		}
	}
	// Constant service halves the wait of M/M/1: Pollaczek and Khinchine.
	q := queueing.Queue{Rate: 80, Service: 10 * time.Millisecond, Slots: 1}
	r := queueing.Simulate(q, queueing.Constant(q.Service), 1_000_000, 1)
	if want := q.Service.Seconds() + q.MeanWait().Seconds()/2; !within(r.Mean().Seconds(), want, 0.02) {
		t.Errorf("M/D/1 has a mean of %v, want %v", r.Mean(), want)
	}
	log := queueing.Simulate(queueing.Queue{Rate: 1, Slots: 1000}, queueing.Lognormal(10*time.Millisecond, 0.5), 1_000_000, 1)
	if !within(log.Mean().Seconds(), 0.01, 0.02) {
		t.Errorf("lognormal service has a mean of %v, want 10 ms", log.Mean())
	}
}
