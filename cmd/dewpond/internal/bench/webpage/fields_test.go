package webpage

import (
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
)

// Each figure has a picture, each cell a row in it, and each rival a mark there: right of 1 where
// dewpond needs more, and left where it needs less.
func TestFields(t *testing.T) {
	index := map[string]int{"nop": 3, "mcache": 7}
	for _, times := range []float64{1.5, 1 / 1.5} {
		all := fields(synthetic.Rivals(times), index)
		if len(all) != 4 {
			t.Fatalf("%d pictures, want 4", len(all))
		}
		for _, f := range all {
			if len(f.Rows) != 2 || len(f.Rows[0].Marks) != 6 || f.Rows[0].Marks[0].Index != 3 || f.Rows[0].Marks[3].Index != 7 || len(f.Ticks) == 0 {
				t.Fatalf("%s is %+v", f.Title, f)
			}
			// Beside syncpool, which has no collections in the burst, there is no ratio.
			if want := map[bool]int{true: 3, false: 4}[f.Title == "collections"]; len(f.Rows[1].Marks) != want {
				t.Errorf("%s of the burst has %d marks, want %d", f.Title, len(f.Rows[1].Marks), want)
			}
			for _, m := range f.Rows[0].Marks[1:5] {
				if (m.At > f.Even) != (times > 1) || m.Low > m.At || m.Low+m.Span < m.At || !strings.HasPrefix(m.Text, "dewpond to ") {
					t.Errorf("%v times: the mark of %s is %+v, and 1 is at %v", times, f.Title, m, f.Even)
				}
			}
			for i, m := range f.Rows[0].Marks[1:] {
				if m.Top <= f.Rows[0].Marks[i].Top || m.Top >= f.Rows[0].Height {
					t.Errorf("%s: mark %d is at %d of %d", f.Title, i+1, m.Top, f.Rows[0].Height)
				}
			}
		}
	}
	if got := fields(synthetic.Scenarios()["burst"], index); got != nil {
		t.Errorf("another scenario has %+v", got)
	}
}

// The page has the pictures, the table, and a section for each cell, whose name leads there. The words
// are those of the whole, and not of a cell.
func TestPageOfRivals(t *testing.T) {
	s := rendered(t, synthetic.Rivals(1.5))
	for _, want := range []string{
		"<b>time: dewpond's ratio to each rival</b>", "<b>collections: dewpond's ratio to each rival</b>", `<a href="#burst">burst</a>`, `<section id="burst">`,
		"<h2>bursts of 1500 blocks</h2>", "dewpond beside its rivals", "<li>dewpond loses in burst: ", `title="dewpond to mcache: 1.5`,
	} {
		if !strings.Contains(s, want) {
			t.Errorf("no %q on the page", want)
		}
	}
	if strings.Contains(s, "<small>baseline</small>") || !strings.Contains(rendered(t, synthetic.Scenarios()["burst"]), "<small>baseline</small>") {
		t.Error("a contender is the baseline of all, or of another scenario none is")
	}
	if strings.Contains(s, "<li>dewpond is better than "+bench.Baseline) || strings.Count(s, `<section id="`) != 3 {
		t.Error("the page says of a cell what it says of the whole, or lacks a section")
	}
}
