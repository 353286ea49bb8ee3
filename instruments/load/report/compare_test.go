package report_test

import (
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/report"
)

// rounds are results of two commands: of the first, and of the second, whose P50 and P99 are that many
// times the first's.
func rounds(p50, p99 []float64) []load.Result {
	round := func(command string, p50, p99 float64) load.Result {
		return load.Result{
			Command: []string{"dewload", command}, Valid: true,
			Session: load.Part{Response: &load.Times{P50: &p50, P99: &p99}},
		}
	}
	var all []load.Result
	for i := range p50 {
		all = append(all, round("a", 1e6, 4e6), round("b", 1e6*p50[i], 4e6*p99[i]))
	}
	return all
}

// The second of two commands is judged as any other figure is: it may come out better, worse, level or
// unclear, and with too few rounds it is not judged.
func TestCompareJudges(t *testing.T) {
	for _, test := range []struct {
		p50, p99  []float64
		want, not string
	}{
		{[]float64{0.5, 0.5, 0.6, 0.5, 0.5, 0.5}, []float64{2, 2, 2, 3, 2, 2}, "P50 1.00 ms [1.00 ms, 1.00 ms] 500 µs [500 µs, 600 µs] 0.50x [0.50, 0.60] better", ""},
		{[]float64{0.5, 0.5, 0.6, 0.5, 0.5, 0.5}, []float64{2, 2, 2, 3, 2, 2}, "2.00x [2.00, 3.00] worse", ""},
		{[]float64{1.01, 1.01, 1.01, 1.01, 1.01, 1.01}, []float64{2, 0.5, 2, 0.5, 2, 2}, "level", "worse"},
		{[]float64{1.01, 1.01, 1.01, 1.01, 1.01, 1.01}, []float64{2, 0.5, 2, 0.5, 2, 2}, "2.00x [0.50, 2.00] unclear", "better"},
		{[]float64{0.5, 0.5, 0.5, 0.5, 0.5}, []float64{2, 2, 2, 2, 2}, "Fewer than 6 rounds of each: no verdict.", "better"},
		{[]float64{0.5, 0.5, 0.5, 0.5, 0.5}, []float64{2, 2, 2, 2, 2}, "[2] to [1]", "[2] is"},
	} {
		var out strings.Builder
		if err := report.Compare(rounds(test.p50, test.p99)).WriteText(&out); err != nil {
			t.Fatal(err)
		}
		text := strings.Join(strings.Fields(out.String()), " ")
		if !strings.Contains(text, test.want) || test.not != "" && strings.Contains(text, test.not) {
			t.Errorf("P50 %v, P99 %v: want %q and not %q:\n%s", test.p50, test.p99, test.want, test.not, out.String())
		}
	}
}
