package experiment

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/result"
)

func TestCompare(t *testing.T) {
	for _, test := range []struct {
		low, median, high float64
		rounds            int
		claimed           float64
		want              Verdict
	}{
		{1.8, 2, 2.2, 6, 2, Reproduced},
		{0.45, 0.5, 0.6, 6, 0.5, Reproduced},
		{1.05, 1.1, 1.2, 6, 2, DirectionOnly},
		{1.01, 1.03, 1.06, 6, 2, DirectionOnly},
		{1.005, 1.015, 1.018, 6, 2, NotReproduced}, // level
		{0.985, 0.99, 0.995, 6, 2, NotReproduced},
		{1.01, 1.015, 1.018, 6, 1.02, Reproduced}, // as small as the article says
		{1.001, 1.005, 1.006, 6, 1.02, NotReproduced},
		{0.975, 0.985, 0.99, 6, 0.98, Reproduced},
		{1.005, 1.015, 1.6, 6, 2, CannotTell},
		{8, 10, 12, 6, 2, DirectionOnly},
		{0.4, 0.5, 0.6, 6, 2, NotReproduced},
		{1.8, 2, 2.2, 6, 0.5, NotReproduced},
		{0.9, 1, 1.1, 6, 2, NotReproduced},
		{0.5, 1, 2, 6, 2, CannotTell},
		{0.9, 1.6, 2, 6, 2, CannotTell},
		{1.8, 2, 2.2, 5, 2, CannotTell},
	} {
		r := result.Ratio{Low: test.low, Median: test.median, High: test.high, Rounds: test.rounds}
		if got, why := Compare(r, test.claimed); got != test.want {
			t.Errorf("%+v of %v is %q (%s), want %q", r, test.claimed, got, why, test.want)
		}
	}
}

func TestEqual(t *testing.T) {
	for _, test := range []struct {
		low, high float64
		rounds    int
		want      Verdict
	}{
		{0.95, 1.05, 6, Reproduced},
		{0.8, 1.05, 6, CannotTell},
		{1.2, 1.3, 6, NotReproduced},
		{0.5, 0.8, 6, NotReproduced},
		{0.95, 1.05, 3, CannotTell},
	} {
		if got, why := Equal(result.Ratio{Low: test.low, Median: 1, High: test.high, Rounds: test.rounds}, 0.1); got != test.want {
			t.Errorf("%+v is %q (%s)", test, got, why)
		}
	}
}

func TestContradiction(t *testing.T) {
	if s := Contradiction(8000, 1.2e6, 4.7e6); s == "" {
		t.Error("a mean of 6.7 ms above a P99 of 4.7 ms is no contradiction")
	}
	if s := Contradiction(8000, 1.2e6, 20e6); s != "" {
		t.Error("a mean below the P99 is a contradiction: " + s)
	}
}

// Only rounds of the same number are compared.
func TestRatioIsPaired(t *testing.T) {
	var m Measured
	for round, speed := range []float64{1, 10, 2, 5, 3, 7} {
		m.Rounds = append(m.Rounds,
			result.Round{Contender: "a", Round: round, Figures: map[string]float64{"x_ns": 3 * speed}},
			result.Round{Contender: "b", Round: round, Figures: map[string]float64{"x_ns": speed}})
	}
	m.Rounds = append(m.Rounds, result.Round{Contender: "a", Round: 6, Figures: map[string]float64{"x_ns": 1000}})
	if r := m.Ratio(At("a", "x_ns"), At("b", "x_ns")); r.Low != 3 || r.High != 3 || r.Rounds != 6 {
		t.Errorf("the ratio is %+v, want 3 in 6 rounds", r)
	}
	if m.Has(At("a", "y")) || m.Has(At("c", "x_ns")) {
		t.Error("it has what was not measured")
	}
	if _, lacking := m.Lacking(At("a", "x_ns"), At("c", "x_ns")); !lacking {
		t.Error("case c does not lack")
	}
}

// What one process measures of several cases is each case's own.
func TestCollect(t *testing.T) {
	m := Collect([]result.Round{{Contender: "times", Round: 3, Figures: map[string]float64{"a|x_ns": 6, "b|x_ns": 2, "total": 1}}}, nil)
	if r := m.Ratio(At("a", "x_ns"), At("b", "x_ns")); r.Median != 3 || m.Median("times", "total") != 1 || len(m.Cases()) != 3 {
		t.Errorf("%+v of %v", r, m)
	}
}
