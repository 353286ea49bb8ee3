package report

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// made is a report of figures that are made up.
func made() Report {
	e := experiment.Experiment{
		ID: "made-up", Question: "Is <it> so?", Cases: []string{"with", "without"},
		Plots: []experiment.Plot{{Figure: "x_ns", Title: "Times"}, {Series: "curve", Title: "A curve", X: "bytes", LogX: true}},
		Claims: []experiment.Claim{{
			ID: "made-up/twice", Text: "with | is <twice> as slow", Publication: experiment.Publication{Title: "An article", Address: "an-address"},
			Judge: func(m experiment.Measured) experiment.Finding {
				v, why := experiment.Compare(m.Ratio(experiment.At("with", "x_ns"), experiment.At("without", "x_ns")), 2)
				return experiment.Finding{Verdict: v, Measured: m.Text(experiment.At("with", "x_ns")), Control: "without", Why: why, Do: "nothing"}
			},
		}, {
			ID: "made-up/false", Text: "it is false", Publication: experiment.Publication{Title: "An article"},
			Judge: func(experiment.Measured) experiment.Finding {
				return experiment.Finding{Verdict: experiment.Impossible, Measured: "m", Control: "c", Why: "w", Do: "d", Arithmetic: "2 x 2 = 4"}
			},
		}},
	}
	m := experiment.MadeUp(0.01, map[string]map[string]float64{"with": {"x_ns": 200}, "without": {"x_ns": 100}})
	for i := range m.Rounds {
		m.Rounds[i].Series = map[string][]result.Point{"curve": {{Seconds: 1, Value: 5}, {Seconds: 10, Value: 7}}}
	}
	return Report{Command: "go run ./instruments/lab made-up", Environment: result.Environment{Machine: "A machine", CPUs: 2, Time: "2026-01-02T03:04:05Z"},
		Outcomes: []Outcome{Judge(e, m)}}
}

func TestText(t *testing.T) {
	var out bytes.Buffer
	if err := Text(&out, made(), terminal.Style{Width: 80}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"made-up: Is <it> so?", "verdict  reproduced", "1 reproduced, 1 cannot be true.", "an-address", "2026-01-02", "2 x 2 = 4"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the text lacks %q:\n%s", want, out.String())
		}
	}
}

func TestJSON(t *testing.T) {
	var out bytes.Buffer
	if err := JSON(&out, made()); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Findings []map[string]any
		Figures  map[string]map[string]map[string]result.Figure
	}
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if len(d.Findings) != 2 || d.Figures["made-up"]["with"]["x_ns"].Max != 202 {
		t.Errorf("%+v", d)
	}
	for name, want := range map[string]string{
		"id": "made-up/twice", "claim": "with | is <twice> as slow", "measured": "200 ns (198 ns to 202 ns)", "control": "without", "verdict": "reproduced",
		"why": "the ratio is 2.00x", "do": "nothing",
	} {
		if s, _ := d.Findings[0][name].(string); !strings.HasPrefix(s, want) {
			t.Errorf("the finding's %s is %q, want %q", name, s, want)
		}
	}
	if p, _ := d.Findings[0]["publication"].(map[string]any); len(p) != 2 || p["title"] != "An article" || p["address"] != "an-address" {
		t.Errorf("the publication is %v", p)
	}
}

// A report of which some could not be measured says so, the same each time; what JSON has no number
// for does not keep the rest from being written.
func TestJSONOfWhatFailed(t *testing.T) {
	r := made()
	r.Outcomes[0].Measured.Rounds[0].Figures["y"] = math.NaN()
	r.Outcomes[0].Measured.Rounds[0].Figures["z"] = math.Inf(1)
	r.Outcomes[0].Measured.Absent = map[string]string{"c": "1", "a": "2", "d": "3", "b": "4"}
	r.Outcomes[0].Claims[0].Publication = experiment.Publication{Title: "池", Translation: "Pools"}
	want := `"failures": [ { "experiment": "made-up", "case": "a", "why": "2" }, { "experiment": "made-up", "case": "b", "why": "4" }, ` +
		`{ "experiment": "made-up", "case": "c", "why": "1" }, { "experiment": "made-up", "case": "d", "why": "3" } ]`
	for range 10 {
		var out bytes.Buffer
		if err := JSON(&out, r); err != nil {
			t.Fatal(err)
		}
		got := strings.Join(strings.Fields(out.String()), " ")
		if !strings.Contains(got, want) || !strings.Contains(got, `"publication": { "title": "池", "translation": "Pools" }`) || !strings.Contains(got, `"x_ns"`) {
			t.Fatalf("got %s", got)
		}
	}
	var out bytes.Buffer
	if err := JSON(&out, Report{}); err != nil || !strings.Contains(out.String(), `"findings": []`) {
		t.Errorf("%v: of nothing it is %s", err, &out)
	}
}

func TestHTML(t *testing.T) {
	var out bytes.Buffer
	if err := HTML(&out, made()); err != nil {
		t.Fatal(err)
	}
	s := out.String()
	if m := regexp.MustCompile(`(?i)src\s*=|url\(|@import|https?://|<link|<iframe|fetch\(`).FindString(s); m != "" {
		t.Errorf("the page reaches outside by %q", m)
	}
	for _, want := range []string{`class="bars"`, `class="lines"`, "is &lt;twice&gt; as slow", "cannot be true", "2 x 2 = 4", "stroke:var(--c"} {
		if !strings.Contains(s, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Index(s, "The verdicts") > strings.Index(s, `class="bars"`) {
		t.Error("the table of verdicts does not come first")
	}
	if file := os.Getenv("DEWPOND_PAGE"); file != "" { // to look at
		if err := os.WriteFile(file+"-lab.html", out.Bytes(), 0o644); err != nil {
			t.Error(err)
		}
	}
}

func TestMarkdown(t *testing.T) {
	var out bytes.Buffer
	if err := Markdown(&out, made()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`with \| is <twice> as slow | reproduced |`, "- arithmetic: 2 x 2 = 4\n", "## Claims that failed\n\n- made-up: it is false.", "| x | 200 ns (198 ns to 202 ns) |"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the document lacks %q:\n%s", want, out.String())
		}
	}
}
