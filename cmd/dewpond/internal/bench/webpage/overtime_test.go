package webpage

import (
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
)

// A contender that cannot tell what it holds has no line, and the note says so.
func TestSilenceIsNoLine(t *testing.T) {
	d := synthetic.Document(synthetic.ChurnScenario(), synthetic.ChurnRounds(1))
	d.Contenders = append(d.Contenders, bench.Contender{Name: "unwatched"}) // cut short: it is not mentioned
	drawn := overTime(d, map[string]int{})
	var titles []string
	for _, c := range drawn {
		titles = append(titles, c.Title)
		silent := c.Title == "Idle bytes over time"
		if strings.Contains(c.Note, "cannot tell what it holds: syncpool-class") != silent {
			t.Errorf("%s: note %q", c.Title, c.Note)
		}
		if want := map[bool]int{true: 3, false: 4}[silent]; len(c.Curves) != want {
			t.Errorf("%s: %d lines, want %d", c.Title, len(c.Curves), want)
		}
	}
	want := []string{"Idle bytes over time", "Bytes in use over time", "Resident memory (RSS) over time", "Collections since the start"}
	if !slices.Equal(titles, want) {
		t.Errorf("charts are %q, want %q", titles, want)
	}
}
