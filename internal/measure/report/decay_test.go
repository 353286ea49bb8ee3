package report

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// Decay that is felt is said to be, and decay that is not is not.
func TestDecayVerdict(t *testing.T) {
	for slower, says := range map[float64]string{1: "within noise: yes", 1.5: "within noise: no"} {
		d := document(t, churnScenario(), churnRounds(t, slower))
		for _, op := range []string{"Get", "Put"} {
			s := said(t, d, "Decay on beside off (dewpond to dewpond-nodecay), "+op+" P9999: ")
			if !strings.Contains(s, says) || !strings.Contains(s, "96.9 % interval of the median over 6 rounds") {
				t.Errorf("%v times as slow: %q, want %q", slower, s, says)
			}
		}
		r := d.Decay["get_p9999_ns"]
		if r.Rounds != 6 || r.Median < 0.9*slower || r.Median > 1.1*slower {
			t.Errorf("ratio to dewpond-nodecay is %+v, want %v over 6 rounds", r, slower)
		}
		if s := said(t, d, "A burst takes 1"); !strings.Contains(s, "allocated anew") {
			t.Errorf("the price of a burst is %q", s)
		}
		var out bytes.Buffer
		if err := Text(&out, d, 110); err != nil {
			t.Fatal(err)
		}
		if want := map[float64]string{1: "yes", 1.5: "no"}[slower]; !rowEnds(out.String(), "Get", want) || !rowEnds(out.String(), "Put", want) {
			t.Errorf("the table does not end its rows with %s:\n%s", want, out.String())
		}
	}
}

func rowEnds(text, name, with string) bool {
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, name+" ") && strings.HasSuffix(line, "  "+with+"\n") {
			return true
		}
	}
	return false
}

// The verdict on decay needs its two contenders and rounds enough, and nobody else.
func TestDecayVerdictNeedsBoth(t *testing.T) {
	all := churnRounds(t, 1)
	only := func(names ...string) []result.Round {
		return slices.DeleteFunc(slices.Clone(all), func(r result.Round) bool { return !slices.Contains(names, r.Contender) })
	}
	quick := churnScenario()
	quick.Quick = true
	for _, test := range []struct {
		sc     result.Scenario
		rounds []result.Round
		want   bool
	}{
		{churnScenario(), only(ours, undecayed), true},
		{churnScenario(), only(ours, baseline), false},
		{churnScenario(), only(undecayed, baseline), false},
		{churnScenario(), only(ours, undecayed)[:10], false},
		{quick, only(ours, undecayed), false},
	} {
		d := document(t, test.sc, test.rounds)
		if got := strings.Contains(strings.Join(d.Words, "\n"), "within noise"); got != test.want {
			t.Errorf("%d rounds, quick %v: a verdict on decay is %v, want %v: %q", len(test.rounds), test.sc.Quick, got, test.want, d.Words)
		}
	}
}
