package digest_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/digest"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

func TestFiguresAreMediansWithTheirRange(t *testing.T) {
	d := synthetic.Document(synthetic.Mixed, synthetic.Plain("make", 400, 100, 300, 200))
	want := result.Figure{Median: 250, Min: 100, Max: 400}
	if got := d.Contenders[0].OpsPerSec; got != want {
		t.Errorf("ops_per_sec = %v, want %v", got, want)
	}
}

func TestNoRoundsIsAnError(t *testing.T) {
	if _, err := digest.Of(synthetic.Environment, synthetic.Mixed, nil, nil); err == nil {
		t.Error("no error for no rounds")
	}
}

func TestBrokenHistogramIsAnError(t *testing.T) {
	r := synthetic.Plain("make", 1)
	r[0].Histograms = map[string][]byte{"get": []byte("not a histogram")}
	if _, err := digest.Of(synthetic.Environment, synthetic.Mixed, nil, r); err == nil {
		t.Error("no error for a histogram that cannot be decoded")
	}
}

func TestPairingIsByRoundNumber(t *testing.T) {
	// In each round the machine is ten times slower than in the one before, and the contender
	// is always twice as fast as the baseline. To pair by position, or to compare medians,
	// gives something else than 2.
	base := synthetic.Plain(bench.Baseline, 1e9, 1e8, 1e7, 1e6, 1e5, 1e4, 1e3)
	ours := synthetic.Plain("ring", 2e9, 2e8, 2e7, 2e6, 2e5, 2e4, 2e3)
	slices.Reverse(ours)
	ours = ours[:6] // round 0 is missing
	d := synthetic.Document(synthetic.Mixed, append(base, ours...))
	r := d.Contender("ring").Ratios["ops_per_sec"]
	if r.Median != 2 || r.Low != 2 || r.High != 2 || r.Rounds != 6 {
		t.Errorf("ratio = %+v, want 2 over 6 rounds", r)
	}
}

func TestCutRounds(t *testing.T) {
	rounds := append(synthetic.Plain(bench.Baseline, 100, 100), synthetic.Plain("ring", 200, 999)...)
	rounds[3].Cut = true
	rounds = append(rounds, result.Round{Contender: "make", Round: 1, Ops: 7, Seconds: 1, Cut: true})
	d := synthetic.Document(synthetic.Mixed, rounds)
	if !d.Interrupted {
		t.Error("a cut round does not show as an interruption")
	}
	ring := d.Contender("ring")
	if ring.OpsPerSec.Max != 200 || ring.Ratios["ops_per_sec"].Rounds != 1 {
		t.Errorf("the cut round counts: %+v %+v", ring.OpsPerSec, ring.Ratios)
	}
	only := d.Contender("make")
	if only.OpsPerSec.Median != 7 || len(only.Ratios) != 0 {
		t.Errorf("a contender with a cut round alone: %+v, ratios %v; want its figure and no ratio", only.OpsPerSec, only.Ratios)
	}
}

func TestZeroBaselineHasNoRatio(t *testing.T) {
	base, ring := synthetic.Plain(bench.Baseline, 1e6), synthetic.Plain("ring", 1e6)
	base[0].Allocs, ring[0].Allocs = 100, 200 // noise: 0.0001 and 0.0002 an operation
	base[0].Figures["second_burst_misses"], ring[0].Figures["second_burst_misses"] = 0, 3
	c := synthetic.Document(synthetic.Mixed, append(base, ring...)).Contender("ring")
	for _, name := range []string{"allocs_per_op", "second_burst_misses"} {
		if r, ok := c.Ratios[name]; ok {
			t.Errorf("%s has a ratio to nothing: %+v", name, r)
		}
	}
	if _, ok := c.Ratios["step_ns"]; !ok {
		t.Error("the scenario's own figure has no ratio")
	}
	// A count has its difference instead, and nothing else has one.
	if e := c.Differences["second_burst_misses"]; len(c.Differences) != 1 || e.Median != 3 || e.Rounds != 1 {
		t.Errorf("differences are %+v, want 3 misses", c.Differences)
	}
}

func TestOnlyWhatIsComparableHasARatio(t *testing.T) {
	base, ring := synthetic.Plain(bench.Baseline, 1e6), synthetic.Plain("ring", 1e6)
	for _, r := range []*result.Round{&base[0], &ring[0]} {
		r.GCCycles, r.GCCPUShare, r.RecorderBytes, r.RSSPeakBytes = 2, 0.1, 1000, 1000
		r.Figures["dropped_arrivals"], r.Figures["get_out_of_range"] = 2, 2
	}
	c := synthetic.Document(synthetic.Mixed, append(base, ring...)).Contender("ring")
	got := slices.Sorted(maps.Keys(c.Ratios))
	if want := []string{"ops_per_sec", "rss_peak_bytes", "step_ns"}; !slices.Equal(got, want) {
		t.Errorf("ratios of %v, want %v", got, want)
	}
}

func TestExcessIsPoolMinusControl(t *testing.T) {
	d := synthetic.Document(synthetic.Mixed, append(synthetic.Plain(bench.Control, 1e8, 1e7), synthetic.Plain("ring", 0.5e8, 0.5e7)...))
	e := d.Contender("ring").Excess["step_ns"]
	if want := (10.0 + 100.0) / 2; math.Abs(e.Median-want) > 1e-9 {
		t.Errorf("excess = %v ns, want %v", e.Median, want)
	}
}
