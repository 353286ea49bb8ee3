package verdict

import (
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/result"
)

// What is less than 2 % apart is level however sure it is, and what is further apart needs an
// interval without 1.
func TestSides(t *testing.T) {
	for _, test := range []struct {
		figure            string
		median, low, high float64
		rounds            int
		want              Side
	}{
		{"get_p50_ns", 0.5, 0.4, 0.6, 6, Better},
		{"get_p50_ns", 2, 1.5, 3, 6, Worse},
		{"ops_per_sec", 2, 1.5, 3, 6, Better},
		{"ops_per_sec", 0.5, 0.4, 0.6, 6, Worse},
		{"get_p50_ns", 1.01, 1.009, 1.011, 6, Level},
		{"get_p50_ns", 0.981, 0.98, 0.982, 6, Level},
		{"get_p50_ns", 1, 0.2, 5, 6, Level},
		{"get_p50_ns", 1.021, 1.02, 1.03, 6, Worse},
		{"get_p50_ns", 0.7, 0.4, 1.2, 6, Unclear},
		{"get_p50_ns", 0.7, 0.4, 1, 6, Unclear},
		{"second_burst_misses", 0, 0, 0, 6, Better},
		{"second_size_hit_share", 0.5, 0.4, 0.6, 6, Worse},
		{"get_p50_ns", 0.5, 0.4, 0.6, 5, None},
		{"get_p50_ns", 1, 1, 1, 5, None},
	} {
		r := result.Ratio{Median: test.median, Low: test.low, High: test.high, Rounds: test.rounds}
		if got := Of(test.figure, r); got != test.want {
			t.Errorf("%s %+v is %q, want %q", test.figure, r, got, test.want)
		}
	}
}

// The least difference is the caller's, and so is the direction.
func TestLeastAndDirection(t *testing.T) {
	r := result.Ratio{Median: 1.01, Low: 1.005, High: 1.015, Rounds: 6}
	for _, test := range []struct {
		more  bool
		least float64
		want  Side
	}{{true, 0.005, Better}, {false, 0.005, Worse}, {true, Least, Level}} {
		if got := OfRatio(r, test.more, test.least); got != test.want {
			t.Errorf("%+v with %+v is %q", r, test, got)
		}
	}
}

// A difference that the baseline has from itself is nobody's.
func TestNothingIsClaimedWithinARepetition(t *testing.T) {
	better := result.Ratio{Median: 0.9, Low: 0.88, High: 0.92, Rounds: 6}
	worse := result.Ratio{Median: 1.1, Low: 1.08, High: 1.12, Rounds: 6}
	level := result.Ratio{Median: 1, Low: 0.9, High: 1.1, Rounds: 6}
	few := result.Ratio{Median: 0.9, Low: 0.88, High: 0.92, Rounds: 5}
	wide, narrow := result.Ratio{Median: 1, Low: 0.85, High: 1.15, Rounds: 6}, result.Ratio{Median: 1, Low: 0.95, High: 1.05, Rounds: 6}
	for _, test := range []struct {
		r, again result.Ratio
		want     Side
	}{
		{better, narrow, Better}, {worse, narrow, Worse}, {better, result.Ratio{}, Better},
		{better, wide, Unseen}, {worse, wide, Unseen}, {level, wide, Level}, {few, wide, None},
	} {
		if got := OfRepeated(test.r, test.again, false); got != test.want {
			t.Errorf("%+v beside itself %+v is %q, want %q", test.r, test.again, got, test.want)
		}
	}
}

// A count whose baseline is zero is judged by its difference: one that is always there is a gain or a
// loss, one that is never there is level.
func TestSidesOfDifferences(t *testing.T) {
	for _, test := range []struct {
		figure            string
		median, low, high float64
		rounds            int
		want              Side
	}{
		{"double_put_found", 64, 60, 64, 6, Better},
		{"double_put_found", -3, -4, -1, 6, Worse},
		{"refused_share", 0.9, 0.89, 0.91, 6, Worse},
		{"refused_share", -0.1, -0.2, -0.05, 6, Better},
		{"false_reports", 0, 0, 0, 6, Level},
		{"read_after_put_found", 0, 0, 1, 6, Unclear},
		{"second_burst_misses", 2, -1, 5, 6, Unclear},
		{"refused_share", 0.9, 0.89, 0.91, 5, None},
		{"refused_share", 0, 0, 0, 5, None},
	} {
		e := result.Excess{Median: test.median, Low: test.low, High: test.high, Rounds: test.rounds}
		if got := OfDifference(test.figure, e); got != test.want {
			t.Errorf("%s by %v [%v, %v] in %d rounds is %q, want %q", test.figure, test.median, test.low, test.high, test.rounds, got, test.want)
		}
	}
}
