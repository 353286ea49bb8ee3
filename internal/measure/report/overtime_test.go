package report

import (
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/result"
)

func TestBackIn(t *testing.T) {
	for _, test := range []struct {
		values []float64 // a second apart
		want   string
	}{
		{[]float64{0, 100, 50, 10, 0}, "2.00 s"},
		{[]float64{0, 100, 50, 11, 11}, "not in 3.00 s"},
		{[]float64{40, 140, 60, 50, 40}, "2.00 s"}, // of the rise, not of the peak
		{[]float64{0, 90, 0, 100, 100, 5}, "2.00 s"},
		{[]float64{0, 100, 0, 92, 50, 5}, "2.00 s"}, // after it last came up
		{[]float64{0, 100, 0, 50, 95, 99}, "not in 1.00 s"},
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

// Who cannot tell what he holds has no line and no zero, and that is said.
func TestSilenceIsNotZero(t *testing.T) {
	d := document(t, churnScenario(), churnRounds(t, 1))
	d.Contenders = append(d.Contenders, result.Contender{Name: "unwatched"}) // cut short: nothing to say of it
	g := seriesSummary(d)
	column := slices.Index(g.head, "idle peak")
	if column < 0 {
		t.Fatalf("no idle peak among %v", g.head)
	}
	for _, r := range g.rows {
		if got := r.cells[column-1].text; (got == none) != (r.name == baseline) {
			t.Errorf("%s: idle peak is %q", r.name, got)
		}
	}
	if want := "idle: cannot tell what it holds: syncpool-class."; !slices.Contains(g.notes, want) {
		t.Errorf("notes are %q, want %q", g.notes, want)
	}
	drawn, err := overTime(d)
	if err != nil {
		t.Fatal(err)
	}
	var titles []string
	for _, c := range drawn {
		titles = append(titles, c.Title)
		silent := c.Title == "Idle bytes over time"
		if strings.Contains(c.Note, "cannot tell what it holds: syncpool-class") != silent {
			t.Errorf("%s: note %q", c.Title, c.Note)
		}
		if want := map[bool]int{true: 3, false: 4}[silent]; len(c.Data.Lines) != want {
			t.Errorf("%s: %d lines, want %d", c.Title, len(c.Data.Lines), want)
		}
	}
	want := []string{"Idle bytes over time", "Bytes in use over time", "Resident memory (RSS) over time", "Collections since the start"}
	if !slices.Equal(titles, want) {
		t.Errorf("charts are %q, want %q", titles, want)
	}
}
