package table

import (
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
)

// A row has the ratios to syncpool, and then those of dewpond. What dewpond needs more of has the tone
// of a loss, and what it needs less of that of a gain.
func TestRivals(t *testing.T) {
	for times, want := range map[float64]Tone{1.5: Bad, 1 / 1.5: Good, 1: Plain} {
		g := rivals(synthetic.Rivals(times))
		if len(g.Rows) != 2+7+5 || len(g.Head) != 9 || g.Half != 4 {
			t.Fatalf("%d rows of %q", len(g.Rows), g.Head)
		}
		for _, r := range g.Rows[:8] {
			switch {
			case r.Kind == Heading:
				continue
			case r.Name == bench.Ours: // beside itself there is nothing
				if r.Cells[4].Text != none || !r.Ours() {
					t.Errorf("dewpond's row is %+v", r)
				}
			case r.Name == "mcache":
				for i, c := range r.Cells {
					if i < 4 && c.Tone != Plain || i >= 4 && c.Tone != want {
						t.Errorf("%v times: %s of mcache has tone %q, want %q: %s", times, g.Head[i+1], c.Tone, want, c.Text)
					}
				}
			case r.Name == bench.Synced:
				if r.Cells[0].Tone != want {
					t.Errorf("%v times: time of dewsync has tone %q, want %q", times, r.Cells[0].Tone, want)
				}
			case r.Name == bench.Plain:
				if r.Cells[0].Text != none || r.Cells[0].Spread == "" || !strings.HasSuffix(r.Cells[4].Text, "]") {
					t.Errorf("syncpool's row is %+v", r)
				}
			}
		}
	}
}

// The notes say who was left out and why, and what a number with a sign is.
func TestRivalsNotes(t *testing.T) {
	g := rivals(synthetic.Rivals(1.5))
	for _, want := range []string{
		"bpool takes no part in burst: its blocks are of one size.", "nop takes no part in burst: what one goroutine gets another cannot put back.",
		"A number with a sign, or 0, is the difference: the other has none.", "Time: processor time of an operation; in burst of a burst.", "Collections: in 5 s.",
	} {
		if !slices.Contains(g.Notes, want) {
			t.Errorf("no %q among %q", want, g.Notes)
		}
	}
	if g := rivals(synthetic.Scenarios()["burst"]); !g.empty() {
		t.Errorf("another scenario has a table of rivals: %+v", g)
	}
}
