package experiment

import (
	"strings"
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

func TestDirection(t *testing.T) {
	for _, test := range []struct {
		low, median, high float64
		above             bool
		want              Verdict
	}{
		{1.2, 1.3, 1.4, true, Reproduced},
		{1.2, 1.3, 1.4, false, NotReproduced},
		{0.5, 0.6, 0.7, false, Reproduced},
		{0.99, 1.01, 1.015, true, NotReproduced},
		{0.8, 1.1, 1.5, true, CannotTell},
		{0.3, 1, 3, true, CannotTell},
	} {
		r := result.Ratio{Low: test.low, Median: test.median, High: test.high, Rounds: 6}
		if got, why := Direction(r, test.above); got != test.want {
			t.Errorf("%+v is %q (%s), want %q", test, got, why, test.want)
		}
	}
}

func TestCounts(t *testing.T) {
	if v, why := Counts(50, 0, 20); v != Reproduced {
		t.Errorf("50 to none, which is at least 50, is %q (%s)", v, why)
	}
	if v, _ := Counts(5, 5, 20); v != NotReproduced {
		t.Errorf("5 to 5 is %q", v)
	}
}

// A mean above the P99 is possible: a hundredth of the answers may carry it. The text says how slow
// they must be, and what is so is no contradiction.
func TestStrained(t *testing.T) {
	s := Strained(8000, 1.2e6, 3.1e6)
	if !strings.Contains(s, "takes 360 ms") {
		t.Errorf("8000 users at 1.2 M a second with a P99 of 3.1 ms: %q", s)
	}
	if s := Strained(4000, 12840, 86e6); !strings.Contains(s, "takes 22.6 s") || !strings.Contains(s, "only 1104 users") && !strings.Contains(s, "only 1.10 k users") {
		t.Errorf("4000 users at 12840 a second with a P99 of 86 ms: %q", s)
	}
	// 99.1 % of the answers take 3.05 ms and 0.9 % 400 ms.
	mean, p99 := 0.991*3.05+0.009*400, 3.05
	s = Strained(8000, 8000/mean*1e3, p99*1e6)
	if !strings.Contains(s, "unless") {
		t.Errorf("what there can be has no condition: %q", s)
	}
	if s := Strained(8000, 1.2e6, 20e6); s != "" {
		t.Error("a mean below the P99 has a condition: " + s)
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

// A stand-in takes the place of what a claim is about, round by round.
func TestAs(t *testing.T) {
	m := MadeUp(0, map[string]map[string]float64{"a": {"x": 1, "y": 2}, "b": {"x": 10, "z": 3}})
	as := m.As(Standing{At("a", "x"): At("b", "z"), At("b", ""): At("a", "")})
	if x, y := as.Median("a", "x"), as.Median("a", "y"); x != 3 || y != 2 {
		t.Errorf("a has x %v and y %v, want 3 and 2", x, y)
	}
	if x := as.Median("b", "x"); x != 1 || as.Has(At("b", "z")) {
		t.Errorf("b has x %v and z, want what a had: x 1", x)
	}
	if m.Median("a", "x") != 1 {
		t.Error("what was measured has changed")
	}
}
