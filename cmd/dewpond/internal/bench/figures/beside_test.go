package figures

import (
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// A figure is shown beside the baseline's by its ratio, or by its difference.
func TestBeside(t *testing.T) {
	for _, test := range []struct {
		name              string
		median, low, high float64
		want              string
	}{
		{"double_put_found", 64, 64, 64, "+64"}, {"double_put_found", 64, 60, 64, "+64 [60, 64]"}, {"read_after_put_found", 0, 0, 0, "0"},
		{"refused_share", 0.904, 0.901, 0.906, "+90.4 % [90.1, 90.6]"}, {"refused_share", -0.1, -0.2, 0, "-10 % [-20, 0]"}, {"refused_share", 0.9, 0.89999, 0.90001, "+90 %"},
	} {
		e := result.Excess{Median: test.median, Low: test.low, High: test.high}
		c := &bench.Contender{Differences: map[string]result.Excess{test.name: e}}
		if got := Beside(c, test.name); got != test.want || Compared(bench.Answer{Figure: test.name, Difference: &e}) != test.want {
			t.Errorf("%s %+v is %q, want %q", test.name, e, got, test.want)
		}
	}
	if got := Beside(&bench.Contender{}, "get_p50_ns"); got != "" {
		t.Errorf("without ratio and difference it is %q", got)
	}
}
