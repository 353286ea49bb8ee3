package words_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// The verdict names decay that is felt, and only that.
func TestDecayVerdict(t *testing.T) {
	for slower, worse := range map[float64]bool{1: false, 1.5: true} {
		d := synthetic.Document(synthetic.ChurnScenario(), synthetic.ChurnRounds(slower))
		for _, op := range []string{"Get", "Put"} {
			s := said(t, d, "With decay (dewpond beside dewpond-nodecay) "+op+" P9999 is ")
			if strings.Contains(s, ": worse") != worse || strings.Contains(s, ": better") {
				t.Errorf("%v times as slow: %q, want worse %v", slower, s, worse)
			}
		}
		r := d.Decay["get_p9999_ns"]
		if r.Rounds != 6 || r.Median < 0.9*slower || r.Median > 1.1*slower {
			t.Errorf("ratio to dewpond-nodecay is %+v, want %v over 6 rounds", r, slower)
		}
		if s := said(t, d, "With decay a burst takes 1"); !strings.Contains(s, "x as long: worse, because it allocates again") && !strings.Contains(s, "] as long: worse, because it allocates again") {
			t.Errorf("the price of a burst is %q", s)
		}
	}
}

// The verdict on decay needs its two contenders and enough rounds, and no other contender.
func TestDecayVerdictNeedsBoth(t *testing.T) {
	all := synthetic.ChurnRounds(1)
	only := func(names ...string) []result.Round {
		return slices.DeleteFunc(slices.Clone(all), func(r result.Round) bool { return !slices.Contains(names, r.Contender) })
	}
	quick := synthetic.ChurnScenario()
	quick.Quick = true
	for _, test := range []struct {
		sc     bench.Scenario
		rounds []result.Round
		want   bool
	}{
		{synthetic.ChurnScenario(), only(bench.Ours, bench.Undecayed), true},
		{synthetic.ChurnScenario(), only(bench.Ours, bench.Baseline), false},
		{synthetic.ChurnScenario(), only(bench.Undecayed, bench.Baseline), false},
		{synthetic.ChurnScenario(), only(bench.Ours, bench.Undecayed)[:10], false},
		{quick, only(bench.Ours, bench.Undecayed), false},
	} {
		d := synthetic.Document(test.sc, test.rounds)
		if got := strings.Contains(strings.Join(d.Words, "\n"), "With decay "); got != test.want {
			t.Errorf("%d rounds, quick %v: a verdict on decay is %v, want %v: %q", len(test.rounds), test.sc.Quick, got, test.want, d.Words)
		}
	}
}
