package target_test

import (
	"slices"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/target"
)

const ms = time.Millisecond

// every returns intervals of a length, at a distance, over ten seconds.
func every(distance, offset, length time.Duration) []target.Interval {
	var all []target.Interval
	for at := offset; at < 10*time.Second; at += distance {
		all = append(all, target.Interval{From: at, To: at + length})
	}
	return all
}

var window = target.Interval{To: 10 * time.Second}

// TestExplain has made-up requests and phases whose answer is known.
func TestExplain(t *testing.T) {
	phases := every(100*ms, 0, 10*ms) // a tenth of the time
	half := append(every(200*ms, 2*ms, 2*ms), every(200*ms, 152*ms, 2*ms)...)
	for _, c := range []struct {
		name             string
		requests, phases []target.Interval
		observed, chance float64
		explained        float64
	}{
		{"all during a phase", every(100*ms, 2*ms, 2*ms), phases, 1, 0.12, 1},
		{"none during a phase", every(100*ms, 50*ms, 2*ms), phases, 0, 0.12, 0},
		{"half of them", half, phases, 0.5, 0.12, 0.43},
		// Requests of 60 ms overlap 70 % of the time by chance, and are not blamed for it.
		{"long ones", every(142*ms, 1*ms, 60*ms), phases, 0.7, 0.7, 0},
		{"no phases", every(100*ms, 0, 2*ms), nil, 0, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := target.Explain(c.requests, c.phases, window)
			if e.CannotTell != "" || e.Requests != len(c.requests) {
				t.Fatalf("%+v", e)
			}
			if d := e.Observed - c.observed; d < -0.03 || d > 0.03 {
				t.Errorf("observed %v, want %v", e.Observed, c.observed)
			}
			if d := e.Chance - c.chance; d < -0.03 || d > 0.03 {
				t.Errorf("by chance %v, want %v", e.Chance, c.chance)
			}
			if d := e.Explained - c.explained; d < -0.06 || d > 0.06 {
				t.Errorf("explained %v, want %v", e.Explained, c.explained)
			}
			if e.Low > e.Explained || e.High < e.Explained || e.High-e.Low > 0.4 {
				t.Errorf("explained %v, between %v and %v", e.Explained, e.Low, e.High)
			}
			if again := target.Explain(c.requests, c.phases, window); again != e {
				t.Errorf("%+v, and then %+v", e, again)
			}
		})
	}
}

// TestFewRequests wants an interval of 14 requests that all say the same, or lie in one block.
func TestFewRequests(t *testing.T) {
	phases := every(100*ms, 0, 10*ms)
	for _, c := range []struct {
		name      string
		requests  []target.Interval
		low, high float64 // what the interval holds at least
	}{
		{"none during a phase", every(700*ms, 50*ms, 2*ms)[:14], 0, 0.1},
		{"all during a phase", every(700*ms, 2*ms, 2*ms)[:14], 0.8, 1},
		{"half of them, all at once", slices.Concat(every(ms, 2*ms, ms)[:7], every(ms, 30*ms, ms)[:7]), 0.2, 0.6},
	} {
		e := target.Explain(c.requests, phases, window)
		if e.CannotTell != "" || len(c.requests) != 14 || e.Low > c.low || e.High < c.high {
			t.Errorf("%s: %+v, want an interval that holds [%v, %v]", c.name, e, c.low, c.high)
		}
	}
}

func TestCannotTell(t *testing.T) {
	for _, c := range []struct {
		requests, phases []target.Interval
		want             string
	}{
		{every(2*time.Second, 0, ms), nil, "fewer than ten requests"},
		{every(100*ms, 0, 95*ms), every(100*ms, 0, 10*ms), "by chance alone more than 80 % of the requests would overlap a phase"},
	} {
		if e := target.Explain(c.requests, c.phases, window); e.CannotTell != c.want || e.Explained != 0 {
			t.Errorf("%+v, want %q", e, c.want)
		}
	}
}
