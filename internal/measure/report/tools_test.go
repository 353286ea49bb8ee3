package report

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// syntheticTools are a round's tools, seeded: a win, a loss, a tie, and one tool
// beside two others.
func syntheticTools(round int) []result.ToolRound {
	rng := rand.New(rand.NewPCG(uint64(round), 31))
	jitter := func(v float64) float64 { return v * (1 + 0.02*rng.NormFloat64()) }
	use := func(tool, name string, ways ...result.AlternativeRound) result.ToolRound {
		own := jitter(ways[0].Ns)
		for i := range ways {
			ways[i].Ns = jitter(ways[i].Ns)
			ways[i].Ratio = own / ways[i].Ns
		}
		ways[0].Ns, ways[0].Ratio = own, 1
		return result.ToolRound{Tool: tool, Case: name, Alternatives: ways}
	}
	tie := use("Pool", "bytes.Buffer, parallel", result.AlternativeRound{Name: "dewpond.Pool", Ns: 5}, result.AlternativeRound{Name: "sync.Pool", Ns: 5})
	tie.Alternatives[1].Ratio = []float64{0.98, 1.01, 0.99, 1.02, 1.01, 0.97}[round]
	return []result.ToolRound{
		use("Pool", "64 B struct, 1 goroutine", result.AlternativeRound{Name: "dewpond.Pool", Ns: 7}, result.AlternativeRound{Name: "sync.Pool", Ns: 9}),
		tie,
		use("Lease", "128 B, 1 goroutine", result.AlternativeRound{Name: "Lease+Release", Ns: 18}, result.AlternativeRound{Name: "Get+Put", Ns: 9}),
		use("Scope", "50 pieces of 128 B", result.AlternativeRound{Name: "dewpond.Scope", Ns: 190}, result.AlternativeRound{Name: "make", Ns: 4000, Bytes: 6400, Allocs: 50}),
		use("Buffer", "JSON mix, 4 % of 64 KB", result.AlternativeRound{Name: "dewpond.Buffer", Ns: 2200},
			result.AlternativeRound{Name: "bytes.Buffer", Ns: 9000, Bytes: 14_400, Allocs: 6.24}, result.AlternativeRound{Name: "bytebufferpool", Ns: 1100, Bytes: 0.5}),
	}
}

// toolRounds are so many rounds of dewpond with its tools, beside the others.
func toolRounds(n int, others ...string) []result.Round {
	var out []result.Round
	for _, name := range append([]string{ours}, others...) {
		out = append(out, plainRounds(name, []float64{1e8, 2e8, 3e8, 4e8, 5e8, 6e8}[:n]...)...)
	}
	for i := range n {
		out[i].Tools = syntheticTools(i)
	}
	return out
}

func TestToolsAreFoldedOverRounds(t *testing.T) {
	rounds := plainRounds(ours, 1e8, 1e8, 1e8, 1e8)
	for i, ns := range []float64{10, 40, 20, 1000} {
		rounds[i].Tools = []result.ToolRound{{Tool: "T", Case: "case", Alternatives: []result.AlternativeRound{
			{Name: "ours", Ns: ns, Ratio: 1}, {Name: "other", Ns: 2 * ns, Bytes: ns, Allocs: 1, Ratio: float64(i + 1)},
		}}}
	}
	rounds[3].Cut = true // out of every figure
	d := document(t, mixed, rounds)
	if len(d.Tools) != 1 || d.Tools[0].Name != "T" || d.Tools[0].Case != "case" || len(d.Tools[0].Alternatives) != 2 {
		t.Fatalf("tools are %+v", d.Tools)
	}
	own, other := d.Tools[0].Alternatives[0], d.Tools[0].Alternatives[1]
	if want := (result.Figure{Median: 20, Min: 10, Max: 40}); own.Time != want || other.Bytes != want || own.Ratio != nil {
		t.Errorf("time %v, the other's bytes %v, want %v; own ratio %v, want none", own.Time, other.Bytes, want, own.Ratio)
	}
	if r := other.Ratio; r == nil || r.Median != 2 || r.Low != 1 || r.High != 3 || r.Rounds != 3 {
		t.Errorf("ratio %+v, want the rounds' own ratios folded: 2 from 1 to 3", r)
	}
	for _, c := range document(t, mixed, plainRounds(baseline, 1)).Tools {
		t.Errorf("tools without dewpond: %+v", c)
	}
}

func TestToolWords(t *testing.T) {
	d := document(t, mixed, toolRounds(6, baseline, control))
	for begins, names := range map[string]string{
		"dewpond.Pool is faster than sync.Pool":              "64 B struct, 1 goroutine 0.7",
		"dewpond.Pool is slower than sync.Pool":              "in none of the cases",
		"dewpond.Pool cannot be told apart from sync.Pool":   "bytes.Buffer, parallel 1.00x [0.97, 1.02]",
		"Lease+Release is faster than Get+Put":               "in none of the cases",
		"Lease+Release is slower than Get+Put":               "128 B, 1 goroutine 1.97x [",
		"dewpond.Scope allocates less than make":             "50 pieces of 128 B 0 B beside 6.40 kB",
		"dewpond.Buffer is faster than bytes.Buffer":         "JSON mix, 4 % of 64 KB 0.2",
		"dewpond.Buffer is slower than bytebufferpool":       "JSON mix, 4 % of 64 KB 1.97x [",
		"A tool's ratio is its time to the time of what":     "96.9 % interval",
		"Of 6 such intervals about 1 miss the truth by chan": "ce",
	} {
		if s := toolSaid(t, d, begins); !strings.HasPrefix(s, begins) || !strings.Contains(s[len(begins):], names) {
			t.Errorf("%q does not name %q", s, names)
		}
	}
	all := strings.Join(d.Words, "\n")
	for _, wrong := range []string{"allocates less than bytebufferpool", "allocates more", "allocates less than sync.Pool", "No verdict"} {
		if strings.Contains(all, wrong) {
			t.Errorf("the words say %q:\n%s", wrong, all)
		}
	}
}

// toolSaid is what the words say from begins on.
func toolSaid(t *testing.T, d result.Document, begins string) string {
	t.Helper()
	for _, w := range d.Words {
		if _, after, ok := strings.Cut(w, begins); ok {
			return begins + after
		}
	}
	t.Fatalf("no sentence %q in:\n%s", begins, strings.Join(d.Words, "\n"))
	return ""
}

// The tools have their baselines with them: they are judged without syncpool-class,
// but no sooner than the contenders.
func TestToolWordsStandAlone(t *testing.T) {
	d := document(t, mixed, toolRounds(6))
	if len(d.Words) != 6 || !strings.Contains(withheld(d), "No verdict on the byte pools: syncpool-class") {
		t.Errorf("words %q, withheld %q", d.Words, withheld(d))
	}
	var out strings.Builder
	if err := Text(&out, d, 100); err != nil {
		t.Fatal(err)
	}
	page := rendered(t, d)
	for _, want := range []string{"No verdict on the byte pools", "Lease+Release is slower than"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the text does not say %q", want)
		}
		if !strings.Contains(page, strings.ReplaceAll(want, "+", "&#43;")) {
			t.Errorf("the page does not say %q", want)
		}
	}
	quick := mixed
	quick.Quick = true
	for why, d := range map[string]result.Document{
		"5 rounds": document(t, mixed, toolRounds(5, baseline, control)),
		"--quick":  document(t, quick, toolRounds(6, baseline, control)),
	} {
		if len(d.Words) != 0 || !strings.HasPrefix(withheld(d), "No verdict: ") {
			t.Errorf("%s: words %q, withheld %q", why, d.Words, withheld(d))
		}
		if len(d.Tools) == 0 || toolGrid(d).empty() {
			t.Errorf("%s: no table of the tools", why)
		}
	}
}

// The rows of the tools are in groups, toned by their intervals, and are nobody's
// whom a click in the legend hides.
func TestToolsOnThePage(t *testing.T) {
	s := rendered(t, document(t, mixed, toolRounds(6, baseline, control)))
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
	row("heading", "128 B, 1 goroutine")
	if l := row("member", "Get&#43;Put"); !strings.Contains(l, `<td class="bad">1.97x`) {
		t.Errorf("a loss is not toned so: %s", l)
	}
	if l := row("member", "make"); !strings.Contains(l, `<td class="good">0.0`) || !strings.Contains(l, "6.40 kB") {
		t.Errorf("a gain is not toned so, or its bytes are missing: %s", l)
	}
	if n := strings.Count(table, `<td class="good">`) + strings.Count(table, `<td class="bad">`); n != 5 {
		t.Errorf("%d toned cells, want 5: a tie has no tone", n)
	}
}
