package report

import (
	"bytes"
	"fmt"
	"html/template"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/result"
)

func rendered(t *testing.T, d result.Document) string {
	t.Helper()
	var out bytes.Buffer
	if err := HTML(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestHTMLIsSelfContained also leaves the page where DEWPOND_PAGE says, for a
// look in a browser.
func TestHTMLIsSelfContained(t *testing.T) {
	d := document(t, mixed, rounds(t, 1, 6, 200_000, pools...))
	s := rendered(t, d)
	if path := os.Getenv("DEWPOND_PAGE"); path != "" {
		if err := os.WriteFile(path, []byte(s), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	outside := regexp.MustCompile(`(?i)(src|href)\s*=|url\(|@import|https?://|<link|<iframe|fetch\(|XMLHttpRequest`)
	if m := outside.FindString(s); m != "" {
		t.Errorf("the page reaches outside by %q", m)
	}
	if !strings.Contains(s, "default-src 'none'") {
		t.Error("the page has no policy that forbids requests")
	}
}

func TestHTMLShowsEveryContender(t *testing.T) {
	d := document(t, mixed, rounds(t, 1, 6, 20_000, pools...))
	s := rendered(t, d)
	for i, p := range pools {
		// On both charts, in the bars, in the tables and in the legend.
		for _, want := range []string{
			fmt.Sprintf(`stroke:var(--c%d)`, i), fmt.Sprintf(`--own:var(--c%d)`, i), "<th>" + p.name + "</th>", "<span>" + p.name + "</span>",
		} {
			if !strings.Contains(s, want) {
				t.Errorf("%s: no %s", p.name, want)
			}
		}
		if n := strings.Count(s, fmt.Sprintf(`stroke:var(--c%d)`, i)); n != 2 {
			t.Errorf("%s has %d lines, want one on each of 2 charts", p.name, n)
		}
	}
	if n := strings.Count(s, "stroke-dasharray:6"); n != 2 {
		t.Errorf("%d dashed lines, want the control's on each of 2 charts", n)
	}
	if strings.Contains(s, "#0101") || strings.Contains(s, "#0102") {
		t.Error("a marker colour was not replaced")
	}
	for _, want := range append(d.Words, "Synthetic CPU", "GOGC=100", "Throughput, ops/s", "GC cycles in 5 s", "Peak RSS") {
		if !strings.Contains(s, template.HTMLEscapeString(want)) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestHTMLEscapesWhatItShows(t *testing.T) {
	const evil = `</script><script>alert("x")</script><img src=x onerror=y>'`
	rs := rounds(t, 1, 6, 2000, pools[0], pools[3], as(pools[5], evil))
	rs[0].Figures = map[string]float64{evil + "_ns": 1}
	rs[0].Series = map[string][]result.Point{evil: {{Seconds: 0, Value: 1}, {Seconds: 1, Value: 2}}}
	d := document(t, mixed, rs)
	d.Command = []string{evil}
	d.Environment.Machine = evil
	d.Scenario.Name = evil
	d.Contenders[0].About = evil
	d.Words = append(d.Words, evil)
	s := rendered(t, d)
	if strings.Contains(s, "<script>alert") || strings.Contains(s, "<img") || strings.Count(s, "<script>") != 1 || strings.Count(s, "</script>") != 1 {
		t.Error("a name reached the page as markup")
	}
}
