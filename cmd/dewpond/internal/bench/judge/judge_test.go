package judge

import (
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// Where the control shows no less than the contender and the baseline, a difference between them is
// credited to neither. Where it does show less than one of them, it is.
func TestNothingIsClaimedOnTheFloor(t *testing.T) {
	at, above, below := result.Excess{Low: -5, High: 5, Rounds: 6}, result.Excess{Low: 1, High: 9, Rounds: 6}, result.Excess{Low: -9, High: -1, Rounds: 6}
	few := result.Excess{Low: -5, High: 5, Rounds: 5}
	better, worse := result.Ratio{Median: 0.5, Low: 0.4, High: 0.6, Rounds: 6}, result.Ratio{Median: 2, Low: 1.5, High: 3, Rounds: 6}
	unclear, level := result.Ratio{Median: 0.7, Low: 0.4, High: 1.2, Rounds: 6}, result.Ratio{Median: 1, Low: 0.9, High: 1.2, Rounds: 6}
	for _, test := range []struct {
		figure     string
		ratio      result.Ratio
		ours, base result.Excess
		want       verdict.Side
	}{
		{"get_p9999_ns", better, at, at, verdict.Unseen},
		{"get_p9999_ns", worse, at, below, verdict.Unseen}, // no pool costs more than ours does
		{"get_p9999_ns", worse, below, below, verdict.Unseen},
		{"get_p9999_ns", unclear, at, at, verdict.Unseen},
		{"get_p9999_ns", level, at, at, verdict.Level},
		{"get_p9999_ns", better, below, below, verdict.Unseen},
		{"get_p9999_ns", better, below, at, verdict.Better}, // better than no pool, too
		{"get_p9999_ns", better, at, above, verdict.Better},
		{"get_p9999_ns", worse, above, at, verdict.Worse},
		{"get_p9999_ns", worse, above, below, verdict.Worse},
		{"get_p9999_ns", unclear, above, above, verdict.Unclear},
		{"get_p9999_ns", worse, few, at, verdict.Worse},
		{"rss_peak_bytes", worse, at, below, verdict.Worse}, // memory that nop holds too is memory
	} {
		c := &bench.Contender{Name: bench.Ours, Ratios: map[string]result.Ratio{test.figure: test.ratio}, Excess: map[string]result.Excess{test.figure: test.ours}}
		base := &bench.Contender{Name: bench.Baseline, Excess: map[string]result.Excess{test.figure: test.base}}
		if got := Between(c, base, test.figure); got != test.want {
			t.Errorf("%s %.1fx, over the control %v and the baseline's %v: %q, want %q", test.figure, test.ratio.Median, test.ours, test.base, got, test.want)
		}
		v := Of(bench.Scenario{Name: "mixed", Mode: "closed"}, c, base)
		if (len(v.Unseen) == 1) != (test.want == verdict.Unseen) || v.Intervals != 1 {
			t.Errorf("%s %.1fx: verdict %+v, want %q", test.figure, test.ratio.Median, v, test.want)
		}
	}
}

// A count that has no ratio is judged by its difference.
func TestCounts(t *testing.T) {
	c := &bench.Contender{Differences: map[string]result.Excess{"double_put_found": {Median: 64, Low: 60, High: 64, Rounds: 6}}}
	if got := Between(c, &bench.Contender{}, "double_put_found"); got != verdict.Better {
		t.Errorf("64 found where the baseline finds none is %q, want better", got)
	}
}
