package webpage

import (
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/report"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/table"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// The tools have their baselines with them: they are judged without syncpool-class, but with no
// fewer rounds than the contenders.
func TestToolWordsStandAlone(t *testing.T) {
	d := synthetic.Document(synthetic.Mixed, synthetic.ToolRounds(6))
	if len(d.Words) != 6 || !strings.Contains(words.Withheld(d), "No verdict on the byte pools: syncpool-class") {
		t.Errorf("words %q, withheld %q", d.Words, words.Withheld(d))
	}
	var out strings.Builder
	if err := report.Text(&out, d, terminal.Style{Width: 100}); err != nil {
		t.Fatal(err)
	}
	html := rendered(t, d)
	for _, want := range []string{"No verdict on the byte pools", "Lease+Release beside Get+Put"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the text does not say %q", want)
		}
		if !strings.Contains(html, strings.ReplaceAll(want, "+", "&#43;")) {
			t.Errorf("the page does not say %q", want)
		}
	}
	quick := synthetic.Mixed
	quick.Quick = true
	for why, d := range map[string]bench.Document{
		"5 rounds": synthetic.Document(synthetic.Mixed, synthetic.ToolRounds(5, bench.Baseline, bench.Control)),
		"--quick":  synthetic.Document(quick, synthetic.ToolRounds(6, bench.Baseline, bench.Control)),
	} {
		if len(d.Words) != 0 || !strings.HasPrefix(words.Withheld(d), "No verdict: ") {
			t.Errorf("%s: words %q, withheld %q", why, d.Words, words.Withheld(d))
		}
		if !slices.ContainsFunc(table.Of(d), func(g table.Table) bool { return g.Title == "dewpond's tools, and what they replace" }) {
			t.Errorf("%s: no table of the tools", why)
		}
	}
}

// The rows of the tools are in groups, toned by their intervals. A click in the legend hides none
// of them.
func TestToolsOnThePage(t *testing.T) {
	s := rendered(t, synthetic.Document(synthetic.Mixed, synthetic.ToolRounds(6, bench.Baseline, bench.Control)))
	_, s, _ = strings.Cut(s, "<b>dewpond&#39;s tools, and what they replace</b>")
	table, _, _ := strings.Cut(s, "</table>")
	if strings.Contains(table, "data-c") {
		t.Error("a row of the tools belongs to a contender")
	}
	lines := strings.Split(table, "\n")
	row := func(class, name string) string {
		i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `<tr class="`+class+`"><th>`+name+`</th>`) })
		if i < 0 {
			t.Fatalf("no %s %q in %s", class, name, table)
		}
		return lines[i]
	}
	row("heading", "128 B by 1 goroutine")
	if l := row("member", "Get&#43;Put"); !strings.Contains(l, `<td class="bad">1.97x`) {
		t.Errorf("a loss has no such tone: %s", l)
	}
	if l := row("member", "make"); !strings.Contains(l, `<td class="good">1/21 [`) || !strings.Contains(l, "6.40 kB") {
		t.Errorf("a gain has no such tone, or its bytes are missing: %s", l)
	}
	if n := strings.Count(table, `<td class="good">`) + strings.Count(table, `<td class="bad">`); n != 5 {
		t.Errorf("%d toned cells, want 5: what is level has no tone", n)
	}
}
