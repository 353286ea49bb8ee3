package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
)

func markdown(t *testing.T, d bench.Document) string {
	t.Helper()
	var out bytes.Buffer
	if err := Markdown(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestMarkdownGolden(t *testing.T) {
	golden(t, "rivals.md", []byte(markdown(t, synthetic.Rivals(1.5))))
}

// What is lost is in rows for the README: each figure beside each rival, dewpond's with its zeroing policy
// and dewsync's by its name. Where
// nothing is lost it says so, and with too few rounds why it cannot tell.
func TestMarkdownLosses(t *testing.T) {
	lost := markdown(t, synthetic.Rivals(1.5))
	for _, want := range []string{
		"| what | control | ratio |\n", "| steady, 8 goroutines, one size, `ZeroNever`: P99 | syncpool, syncpool-class, mcache, bpool | **loses**: 1.5",
		"| dewsync, bursts of 1500 blocks: time | syncpool | **loses**: 1.", "| bursts of 1500 blocks, `ZeroOnPut`: collections | syncpool, mcache, syncpool-class | **loses**: +",
		"| **steady-8-one: steady, 8 goroutines, one size** |", "\n- Zeroing policy of dewpond: ZeroNever; in burst ZeroOnPut. The others clear nothing.\n",
	} {
		if !strings.Contains(lost, want) {
			t.Errorf("no %q in\n%.2000s", want, lost)
		}
	}
	_, table, _ := strings.Cut(lost, "| what ")
	table, _, _ = strings.Cut(table, "\n\n")
	if rows, ratios := strings.Count(table, "**loses**"), strings.Count(table, "]"); rows != 16 || ratios != 36 {
		t.Errorf("%d ratios in %d rows, want 36 in 16: four figures of dewpond and of dewsync in two cells", ratios, rows)
	}
	rounds := synthetic.RivalsRounds(0.5)
	for i, r := range rounds["burst"] {
		if r.Contender == bench.Plain { // it has no collections there
			rounds["burst"][i].GCCycles = 100
		}
	}
	won := markdown(t, synthetic.RivalsOf(rounds, false))
	if strings.Contains(won, "loses**") || !strings.Contains(won, "\nNothing is above 1.1 by an interval that excludes 1.\n") {
		t.Errorf("where all is won it says\n%.1000s", won)
	}
	quick := markdown(t, synthetic.RivalsOf(rounds, true))
	if strings.Contains(quick, "Nothing is above") || !strings.Contains(quick, "\nNo verdict: --quick gives figures only.\n") {
		t.Errorf("with --quick it says\n%.1000s", quick)
	}
}

// A loss that a run without a pool shows as well is marked as such.
func TestMarkdownUnseen(t *testing.T) {
	rounds := synthetic.RivalsRounds(1.5)
	for i, r := range rounds["steady-8-one"] {
		if r.Contender == bench.Control {
			rounds["steady-8-one"][i].Figures["operation_cpu_ns"] = 1000
		}
	}
	text := markdown(t, synthetic.RivalsOf(rounds, false))
	if n := strings.Count(text, "] (no less without a pool)"); n != 5 {
		t.Errorf("%d losses are marked, want the time of dewpond beside 4 rivals and that of dewsync:\n%.2500s", n, text)
	}
}
