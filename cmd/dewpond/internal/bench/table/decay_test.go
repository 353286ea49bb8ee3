package table

import (
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
)

// Each row of the table of decay ends with the verdict.
func TestDecayRows(t *testing.T) {
	for slower, worse := range map[float64]bool{1: false, 1.5: true} {
		g := decay(synthetic.Document(synthetic.ChurnScenario(), synthetic.ChurnRounds(slower)))
		for i, name := range []string{"Replacement", "Get", "Put"} {
			cells := g.Rows[i].Cells
			if got := cells[len(cells)-1].Text; g.Rows[i].Name != name || got == none || (got == "worse") != worse {
				t.Errorf("%v times as slow: row %d is of %s and ends with %q, want %s, worse %v", slower, i, g.Rows[i].Name, got, name, worse)
			}
		}
	}
	few := synthetic.ChurnRounds(1)[:4*5]
	if cells := decay(synthetic.Document(synthetic.ChurnScenario(), few)).Rows[0].Cells; cells[len(cells)-1].Text != none {
		t.Errorf("five rounds have a verdict: %q", cells[len(cells)-1].Text)
	}
}
