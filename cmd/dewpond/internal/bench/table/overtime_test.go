package table

import (
	"slices"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

func TestBackIn(t *testing.T) {
	for _, test := range []struct {
		values []float64 // a second apart
		want   string
	}{
		{[]float64{0, 100, 50, 10, 0}, "2.00 s"},
		{[]float64{0, 100, 50, 11, 11}, "> 3.00 s"},
		{[]float64{40, 140, 60, 50, 40}, "2.00 s"}, // of the rise, not of the peak
		{[]float64{0, 90, 0, 100, 100, 5}, "2.00 s"},
		{[]float64{0, 100, 0, 92, 50, 5}, "2.00 s"}, // after it last came up
		{[]float64{0, 100, 0, 50, 95, 99}, "> 1.00 s"},
		{[]float64{0, 1, 100}, "peak is last"},
		{[]float64{100, 104, 103}, none},
		{[]float64{7, 7}, none},
		{[]float64{0, 0, 0}, none},
	} {
		var points []result.Point
		for i, v := range test.values {
			points = append(points, result.Point{Seconds: float64(i), Value: v})
		}
		if got := backIn("", points); got != test.want {
			t.Errorf("%v: back in %q, want %q", test.values, got, test.want)
		}
	}
}

// A contender that cannot tell what it holds has no zero, and a note says so.
func TestSilenceIsNotZero(t *testing.T) {
	d := synthetic.Document(synthetic.ChurnScenario(), synthetic.ChurnRounds(1))
	d.Contenders = append(d.Contenders, bench.Contender{Name: "unwatched"}) // cut short: it is not mentioned
	g := overTime(d)
	column := slices.Index(g.Head, "idle peak")
	if column < 0 {
		t.Fatalf("no idle peak among %v", g.Head)
	}
	for _, r := range g.Rows {
		if got := r.Cells[column-1].Text; (got == none) != (r.Name == bench.Baseline) {
			t.Errorf("%s: idle peak is %q", r.Name, got)
		}
	}
	if want := "idle: cannot tell what it holds: syncpool-class."; !slices.Contains(g.Notes, want) {
		t.Errorf("notes are %q, want %q", g.Notes, want)
	}
}
