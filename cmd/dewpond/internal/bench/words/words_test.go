package words_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// said finds the sentence that begins so; it fails the test if there is none.
func said(t *testing.T, d bench.Document, begins string) string {
	t.Helper()
	for _, w := range d.Words {
		if i := strings.Index(w, begins); i >= 0 {
			sentence, _, _ := strings.Cut(w[i:]+" ", ". ")
			return sentence
		}
	}
	t.Fatalf("no sentence %q in:\n%s", begins, strings.Join(d.Words, "\n"))
	return ""
}

func TestTwiceAsSlowIsWorse(t *testing.T) {
	slow := synthetic.As(synthetic.Pools[3], "dewpond")
	slow.Get, slow.Put, slow.Rate = 2*slow.Get, 2*slow.Put, slow.Rate/2
	d := synthetic.Document(synthetic.Mixed, synthetic.Rounds(11, 6, 20_000, synthetic.Pools[0], synthetic.Pools[3], slow))
	s := said(t, d, "dewpond is worse than syncpool-class in ")
	for _, name := range []string{"ops/s", "Get P50", "Get P99", "Get P999", "Put P50", "Put P99", "Put P999"} {
		if !strings.Contains(s, name+" ") {
			t.Errorf("%s is missing in %q", name, s)
		}
	}
	if s := said(t, d, "dewpond is better"); !strings.Contains(s, "in no figure") {
		t.Errorf("the slower contender is praised: %q", s)
	}
	if !strings.HasPrefix(d.Words[0], "dewpond ") {
		t.Errorf("the words do not begin with dewpond: %q", d.Words[0])
	}
	if r := d.Contender("dewpond").Ratios["get_p50_ns"]; r.Low < 1.9 || r.High > 2.1 {
		t.Errorf("get_p50_ns ratio = %+v, want about 2", r)
	}
}

func TestIdenticalIsLevel(t *testing.T) {
	rs := synthetic.Rounds(12, 6, 20_000, synthetic.Pools[0], synthetic.Pools[3])
	for _, r := range slices.Clone(rs) {
		if r.Contender == bench.Baseline {
			r.Contender = "dewpond"
			rs = append(rs, r)
		}
	}
	d := synthetic.Document(synthetic.Mixed, rs)
	for _, how := range []string{"better", "worse"} {
		if s := said(t, d, "dewpond is "+how); !strings.Contains(s, "in no figure") {
			t.Errorf("identical rounds: %q", s)
		}
	}
	if s := said(t, d, "dewpond is level with syncpool-class"); !strings.Contains(s, "ops/s") || !strings.Contains(s, "Put P999") {
		t.Errorf("%q does not name the figures", s)
	}
}

func TestFloorIsNamed(t *testing.T) {
	rs := synthetic.Rounds(13, 6, 20_000, synthetic.Pools[0], synthetic.Pools[3])
	for _, r := range slices.Clone(rs) {
		if r.Contender == bench.Control {
			r.Contender = "dewpond"
			rs = append(rs, r)
		}
	}
	if s := said(t, synthetic.Document(synthetic.Mixed, rs), "dewpond cannot be told apart from nop, the control"); !strings.Contains(s, "Get P50") {
		t.Errorf("%q does not name Get P50", s)
	}
}

// Of many made-up comparisons of equals, the share that is called better or worse is what the
// confidence of the interval allows, and no more. No sentence of praise or blame names a figure that
// is level or whose interval contains 1.
func TestWordsFollowTheIntervals(t *testing.T) {
	const runs = 2000
	claims := 0
	for seed := range runs {
		rng := rand.New(rand.NewPCG(uint64(seed), 9))
		rates := func() (out []float64) {
			for range summary.VerdictRounds {
				out = append(out, 1e6*(1+0.2*rng.Float64()))
			}
			return out
		}
		d := synthetic.Document(synthetic.Mixed, append(synthetic.Plain(bench.Baseline, rates()...), synthetic.Plain("ring", rates()...)...))
		r := d.Contender("ring").Ratios["ops_per_sec"]
		better, worse, _ := strings.Cut(said(t, d, "ring: better than syncpool-class in "), "; worse in ")
		praised, blamed := strings.Contains(better, "ops/s"), strings.Contains(worse, "ops/s")
		apart := math.Abs(r.Median-1) >= verdict.Least
		if praised != (apart && r.Low > 1) || blamed != (apart && r.High < 1) {
			t.Fatalf("seed %d: praised %v, blamed %v with %+v", seed, praised, blamed, r)
		}
		if praised || blamed {
			claims++
		}
	}
	// 1 - 0.96875 is 62 of 2000, and four standard deviations are 31. Hardly any of them is level.
	if claims < 31 || claims > 93 {
		t.Errorf("%d of %d comparisons of equals were called a difference, want about 62", claims, runs)
	}
}

func TestNoVerdict(t *testing.T) {
	quick := synthetic.Mixed
	quick.Quick = true
	full := synthetic.Rounds(14, 6, 2000, synthetic.Pools[0], synthetic.Pools[3], synthetic.Pools[5])
	for _, test := range []struct {
		why    string
		sc     bench.Scenario
		rounds []result.Round
	}{
		{"--quick", quick, full},
		{"too few rounds", synthetic.Mixed, full[:15]},
		{"syncpool-class", synthetic.Mixed, synthetic.Rounds(14, 6, 2000, synthetic.Pools[0], synthetic.Pools[5])},
		{"nothing to compare", synthetic.Mixed, synthetic.Rounds(14, 6, 2000, synthetic.Pools[0], synthetic.Pools[3])},
	} {
		d := synthetic.Document(test.sc, test.rounds)
		if len(d.Words) != 0 {
			t.Errorf("%s: words %q", test.why, d.Words)
		}
		if !strings.Contains(words.Withheld(d), test.why) {
			t.Errorf("the reason %q does not say %q", words.Withheld(d), test.why)
		}
	}
}

func TestAllocationsWhereTheBaselineHasNone(t *testing.T) {
	d := synthetic.Document(synthetic.Mixed, synthetic.Rounds(15, 6, 2000, synthetic.Pools[0], synthetic.Pools[1], synthetic.Pools[3]))
	if s := said(t, d, "make: "); !strings.Contains(s, "allocs/op (1, where syncpool-class has none)") {
		t.Errorf("%q", s)
	}
}

func TestOpenModeDoesNotJudgeTheRate(t *testing.T) {
	open := synthetic.Mixed
	open.Mode = "open"
	d := synthetic.Document(open, append(synthetic.Plain(bench.Baseline, 1, 1, 1, 1, 1, 1), synthetic.Plain("ring", 2, 2, 2, 2, 2, 2)...))
	if all := fmt.Sprint(d.Words); strings.Contains(all, "ops/s") {
		t.Errorf("the generator's rate is judged: %s", all)
	}
}

// A list separates its items by semicolons, and a contender that differs in much is summarized by
// what differs most.
func TestMostOfAll(t *testing.T) {
	slow := synthetic.As(synthetic.Pools[3], "ring")
	slow.Get, slow.Put, slow.Rate = 2*slow.Get, 70*slow.Put, slow.Rate/3
	d := synthetic.Document(synthetic.Mixed, synthetic.Rounds(11, 6, 20_000, synthetic.Pools[0], synthetic.Pools[3], slow))
	s := said(t, d, "ring: better than syncpool-class in no figure; worse in 7 figures, most of all in Put P")
	if strings.Contains(s, "Get ") || strings.Count(s, ";") < 3 || !strings.Contains(s, " 7") {
		t.Errorf("%q: want the three percentiles of Put, some 70x, separated by semicolons", s)
	}
}
