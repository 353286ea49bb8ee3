package table

import (
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
)

func TestTablesSayWhatTheirBracketsAre(t *testing.T) {
	for n, want := range map[int]string{
		1: "One round gives no interval.",
		2: "In brackets the 50 % interval of the median over 2 rounds.",
		6: "In brackets the 96.9 % interval of the median over 6 rounds.",
	} {
		rates := []float64{10, 20, 30, 40, 50, 60}[:n]
		d := synthetic.Document(synthetic.Mixed, append(synthetic.Plain(bench.Baseline, rates...), synthetic.Plain("ring", rates...)...))
		if got := confidences(d, "ops_per_sec"); got != want {
			t.Errorf("%d rounds: %q, want %q", n, got, want)
		}
	}
}
