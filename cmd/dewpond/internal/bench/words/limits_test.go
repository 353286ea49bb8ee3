package words_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

func TestLimits(t *testing.T) {
	moved := synthetic.Pools[0]
	quiet := synthetic.Rounds(40, 6, 2000, synthetic.Pools[0], synthetic.Pools[3], synthetic.Pools[5])
	restless := slices.Clone(quiet)
	for i, r := range synthetic.Rounds(41, 6, 2000, synthetic.As(synthetic.Pool{Get: 8 * moved.Get, Put: moved.Put, Tail: moved.Tail, Rate: 1e6}, bench.Control)) {
		if i == 2 {
			restless[2*3].Histograms = r.Histograms
		}
	}
	busy := synthetic.Environment
	busy.LoadAverage[0] = 7.5
	for _, test := range []struct {
		says   string
		env    bench.Conditions
		rounds []result.Round
	}{
		{"The machine was busy: load average 7.5 on 2 CPUs", busy, quiet},
		{"moved between rounds: Get P50", synthetic.Environment, restless},
		{"Without the control nop", synthetic.Environment, synthetic.Rounds(40, 6, 2000, synthetic.Pools[3], synthetic.Pools[5])},
	} {
		for _, with := range []bool{true, false} {
			env, rs := test.env, test.rounds
			if !with {
				env, rs = synthetic.Environment, quiet
			}
			d := synthetic.DocumentOn(env, synthetic.Mixed, rs)
			if got := strings.Contains(strings.Join(d.Words, "\n"), test.says); got != with {
				t.Errorf("%q is in it: %v, want %v:\n%s", test.says, got, with, strings.Join(d.Words, "\n"))
			}
		}
	}
}
