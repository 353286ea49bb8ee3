package webpage

import (
	"bytes"
	"fmt"
	"html/template"
	"regexp"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

func rendered(t *testing.T, d bench.Document) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(contender.HueOf)(&out, d); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestHTMLIsSelfContained(t *testing.T) {
	d := synthetic.Document(synthetic.Mixed, synthetic.Rounds(1, 6, 200_000, synthetic.Pools...))
	s := rendered(t, d)
	leave(t, "mixed", s)
	outside := regexp.MustCompile(`(?i)(src|href)\s*=|url\(|@import|https?://|<link|<iframe|fetch\(|XMLHttpRequest`)
	if m := outside.FindString(s); m != "" {
		t.Errorf("the page reaches outside by %q", m)
	}
	if !strings.Contains(s, "default-src 'none'") {
		t.Error("the page has no policy that forbids requests")
	}
}

func TestHTMLShowsEveryContender(t *testing.T) {
	d := synthetic.Document(synthetic.Mixed, synthetic.Rounds(1, 6, 20_000, synthetic.Pools...))
	s := rendered(t, d)
	for i, p := range synthetic.Pools {
		// On both charts, in the bars, in the tables and in the legend.
		for _, want := range []string{
			fmt.Sprintf(`stroke:var(--c%d)`, i), fmt.Sprintf(`--own:var(--c%d)`, i), "<th>" + p.Name + "</th>", "<span>" + p.Name + "</span>",
		} {
			if !strings.Contains(s, want) {
				t.Errorf("%s: no %s", p.Name, want)
			}
		}
		if n := strings.Count(s, fmt.Sprintf(`stroke:var(--c%d)`, i)); n != 2 {
			t.Errorf("%s has %d lines, want one on each of 2 charts", p.Name, n)
		}
	}
	if n := strings.Count(s, `class="line control"`); n != 2 {
		t.Errorf("%d dashed lines, want the control's on each of 2 charts", n)
	}
	for _, want := range append(d.Words, "Synthetic CPU", "GOGC=100", "Throughput, ops/s", "GC cycles in 5 s", "Peak RSS") {
		if !strings.Contains(s, template.HTMLEscapeString(want)) {
			t.Errorf("the page does not say %q", want)
		}
	}
}

func TestHTMLEscapesWhatItShows(t *testing.T) {
	const evil = `</script><script>alert("x")</script><img src=x onerror=y>'`
	rs := synthetic.Rounds(1, 6, 2000, synthetic.Pools[0], synthetic.Pools[3], synthetic.As(synthetic.Pools[5], evil))
	rs[0].Figures = map[string]float64{evil + "_ns": 1}
	rs[0].Series = map[string][]result.Point{evil: {{Seconds: 0, Value: 1}, {Seconds: 1, Value: 2}}}
	d := synthetic.Document(synthetic.Mixed, rs)
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
