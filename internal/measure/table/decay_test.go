package table

import (
	"testing"

	"github.com/dewpond/dewpond/internal/measure/internal/synthetic"
)

// The table of decay ends its rows with the verdict.
func TestDecayRows(t *testing.T) {
	for slower, want := range map[float64]string{1: "yes", 1.5: "no"} {
		g := decay(synthetic.Document(synthetic.ChurnScenario(), synthetic.ChurnRounds(slower)))
		for i, name := range []string{"Get", "Put"} {
			cells := g.Rows[i].Cells
			if got := cells[len(cells)-1].Text; g.Rows[i].Name != name || got != want {
				t.Errorf("%v times as slow: the row of %s ends with %q, want that of %s with %q", slower, g.Rows[i].Name, got, name, want)
			}
		}
	}
	few := synthetic.ChurnRounds(1)[:4*5]
	if cells := decay(synthetic.Document(synthetic.ChurnScenario(), few)).Rows[0].Cells; cells[len(cells)-1].Text != none {
		t.Errorf("five rounds have a verdict: %q", cells[len(cells)-1].Text)
	}
}
