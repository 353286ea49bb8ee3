package words_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/internal/synthetic"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/summary"
	"github.com/dewpond/dewpond/internal/measure/words"
)

// said finds the sentence that begins so; it fails the test if there is none.
func said(t *testing.T, d result.Document, begins string) string {
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

func TestTwiceAsSlowIsSaidToBeSlower(t *testing.T) {
	slow := synthetic.As(synthetic.Pools[3], "dewpond")
	slow.Get, slow.Put, slow.Rate = 2*slow.Get, 2*slow.Put, slow.Rate/2
	d := synthetic.Document(synthetic.Mixed, synthetic.Rounds(11, 6, 20_000, synthetic.Pools[0], synthetic.Pools[3], slow))
	s := said(t, d, "dewpond is slower than syncpool-class")
	for _, name := range []string{"ops/s", "Get P50", "Get P99", "Get P999", "Put P50", "Put P99", "Put P999"} {
		if !strings.Contains(s, name+" ") {
			t.Errorf("%s is missing in %q", name, s)
		}
	}
	if s := said(t, d, "dewpond is faster"); !strings.Contains(s, "in none of the figures") {
		t.Errorf("the slower contender is praised: %q", s)
	}
	if !strings.HasPrefix(d.Words[0], "dewpond ") {
		t.Errorf("the words do not begin with dewpond: %q", d.Words[0])
	}
	if r := d.Contender("dewpond").Ratios["get_p50_ns"]; r.Low < 1.9 || r.High > 2.1 {
		t.Errorf("get_p50_ns ratio = %+v, want about 2", r)
	}
}

func TestIdenticalCannotBeToldApart(t *testing.T) {
	rs := synthetic.Rounds(12, 6, 20_000, synthetic.Pools[0], synthetic.Pools[3])
	for _, r := range slices.Clone(rs) {
		if r.Contender == result.Baseline {
			r.Contender = "dewpond"
			rs = append(rs, r)
		}
	}
	d := synthetic.Document(synthetic.Mixed, rs)
	for _, how := range []string{"faster", "slower"} {
		if s := said(t, d, "dewpond is "+how); !strings.Contains(s, "in none") {
			t.Errorf("identical rounds: %q", s)
		}
	}
	if s := said(t, d, "dewpond cannot be told apart from syncpool-class"); !strings.Contains(s, "ops/s") || !strings.Contains(s, "Put P999") {
		t.Errorf("%q does not name the figures", s)
	}
}

func TestSameAsTheControlIsSaid(t *testing.T) {
	rs := synthetic.Rounds(13, 6, 20_000, synthetic.Pools[0], synthetic.Pools[3])
	for _, r := range slices.Clone(rs) {
		if r.Contender == result.Control {
			r.Contender = "dewpond"
			rs = append(rs, r)
		}
	}
	if s := said(t, synthetic.Document(synthetic.Mixed, rs), "dewpond cannot be told apart from the nop control"); !strings.Contains(s, "Get P50") {
		t.Errorf("%q does not name Get P50", s)
	}
}

// Over many made-up comparisons of equals, the share that is called faster or
// slower is what the interval's confidence allows, and no more; and no sentence
// of praise or blame names a figure whose interval contains 1.
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
		d := synthetic.Document(synthetic.Mixed, append(synthetic.Plain(result.Baseline, rates()...), synthetic.Plain("ring", rates()...)...))
		r := d.Contender("ring").Ratios["ops_per_sec"]
		praised := !strings.Contains(said(t, d, "ring is faster"), "in none") && strings.Contains(said(t, d, "ring is faster"), "ops/s")
		blamed := strings.Contains(said(t, d, "ring is slower"), "ops/s")
		if praised != (r.Low > 1) || blamed != (r.High < 1) {
			t.Fatalf("seed %d: praised %v, blamed %v with %+v", seed, praised, blamed, r)
		}
		if praised || blamed {
			claims++
		}
	}
	// 1 - 0.96875 is 62 of 2000; four standard deviations are 31.
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
		sc     result.Scenario
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
	if s := said(t, d, "make needs more"); !strings.Contains(s, "allocs/op 1 where syncpool-class has none") {
		t.Errorf("%q", s)
	}
}

func TestOpenModeDoesNotJudgeTheRate(t *testing.T) {
	open := synthetic.Mixed
	open.Mode = "open"
	d := synthetic.Document(open, append(synthetic.Plain(result.Baseline, 1, 1, 1, 1, 1, 1), synthetic.Plain("ring", 2, 2, 2, 2, 2, 2)...))
	if all := fmt.Sprint(d.Words); strings.Contains(all, "ops/s") {
		t.Errorf("the generator's rate is judged: %s", all)
	}
}
