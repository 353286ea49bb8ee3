package verdict

import (
	"testing"

	"github.com/dewpond/dewpond/internal/measure/result"
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
		{"get_p50_ns", 0.5, 0.4, 0.6, 5, None},
		{"get_p50_ns", 1, 1, 1, 5, None},
	} {
		r := result.Ratio{Median: test.median, Low: test.low, High: test.high, Rounds: test.rounds}
		if got := Of(test.figure, r); got != test.want {
			t.Errorf("%s %+v is %q, want %q", test.figure, r, got, test.want)
		}
	}
}

// If neither the contender nor the baseline differs from the control, a difference between them
// is credited to neither.
func TestNothingIsClaimedOnTheFloor(t *testing.T) {
	c := &result.Contender{Name: result.Ours,
		Ratios: map[string]result.Ratio{"get_p9999_ns": {Median: 0.5, Low: 0.4, High: 0.6, Rounds: 6}},
		Excess: map[string]result.Excess{"get_p9999_ns": {Low: -5, High: 5, Rounds: 6}}}
	base := &result.Contender{Name: result.Baseline, Excess: map[string]result.Excess{"get_p9999_ns": {Low: -1, High: 9, Rounds: 6}}}
	mixed := result.Scenario{Name: "mixed", Mode: "closed"}
	if v := Judge(mixed, c, base); len(v.Better) != 0 || len(v.Unclear) != 1 {
		t.Errorf("verdict %+v, want unclear", v)
	}
	if side, floor := Between(c, base, "get_p9999_ns"); side != Unclear || !floor {
		t.Errorf("it is %q, on the floor %v; want unclear on the floor", side, floor)
	}
	base.Excess["get_p9999_ns"] = result.Excess{Low: 1, High: 9, Rounds: 6}
	if v := Judge(mixed, c, base); len(v.Better) != 1 {
		t.Errorf("verdict %+v, want better: the baseline is above the floor", v)
	}
}
