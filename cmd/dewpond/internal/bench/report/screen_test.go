package report

import (
	"bytes"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

func screen(t *testing.T, d bench.Document, style terminal.Style) string {
	t.Helper()
	var out bytes.Buffer
	if err := Screen(&out, d, style); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestScreenGolden(t *testing.T) {
	golden(t, "tour.txt", []byte(screen(t, synthetic.Tour(), terminal.Style{Width: 120})))
}

// The answers fit on one screen of 50 lines and 80 columns, also with every note that there is. A
// narrow terminal gets lines of its width.
func TestScreenFits(t *testing.T) {
	d := synthetic.Tour()
	d.Environment.Machine = "A processor with a long name (R) CPU @ 3.00GHz"
	d.Environment.LoadAverage[0] = 12.3
	d.Interrupted = true
	for i := range d.Answers {
		d.Answers[i].Side = string(verdict.Unseen)
		d.Answers[i].Ratio = &result.Ratio{Median: 0.0123, Low: 0.0000412, High: 0.0512, Rounds: 6}
	}
	for width, lines := range map[int]int{200: 50, 80: 50, 60: 1000} {
		text := screen(t, d, terminal.Style{Width: width})
		if !strings.Contains(text, "interrupted") {
			t.Errorf("width %d: it does not say that it was interrupted:\n%s", width, text)
		}
		if n := strings.Count(text, "\n"); n > lines {
			t.Errorf("width %d: %d lines, want at most %d:\n%s", width, n, lines, text)
		}
		for line := range strings.Lines(text) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > min(width, 80) {
				t.Errorf("width %d: a line of %d columns: %q", width, n, line)
			}
		}
	}
}

// Losses stand there like gains, each with the scenario that tells more.
func TestScreenShowsLosses(t *testing.T) {
	text := screen(t, synthetic.Tour(), terminal.Style{Width: 80})
	for _, want := range []string{"hot, one size: bench micro\n", "  memory when idle     24.9 MB    7.97 MB", "worse\n", "better\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	if strings.Contains(text, "\x1b") {
		t.Errorf("colours where there are none:\n%q", text)
	}
	coloured := screen(t, synthetic.Tour(), terminal.Style{Width: 80, Colour: true})
	for _, want := range []string{"\x1b[31m  worse\x1b[0m\n", "\x1b[32m better\x1b[0m\n", "\x1b[1mhot, one size: bench micro\x1b[0m\n"} {
		if !strings.Contains(coloured, want) {
			t.Errorf("no %q in\n%q", want, coloured)
		}
	}
}

// The screen ends with for whom dewpond is and for whom not, or with what it takes to say.
func TestScreenEndsWithForWhom(t *testing.T) {
	tour := synthetic.Tour()
	for judged, want := range map[bool]string{
		true:  "read after Put must be found (0 beside 0).\n",
		false: "\nFor whom dewpond is takes more rounds to say: 6 or more, without --quick.\n",
	} {
		d := tour
		d.Answers = slices.Clone(tour.Answers)
		for i := range d.Answers {
			if !judged {
				d.Answers[i].Side = ""
			}
		}
		text := screen(t, d, terminal.Style{Width: 80})
		if !strings.HasSuffix(text, want) || judged != strings.Contains(text, "\nFor you if ") || judged != strings.Contains(text, "\nNot for you if ") {
			t.Errorf("with a verdict %v it does not end with %q:\n%s", judged, want, text)
		}
	}
}

// The whole report of a tour has the tables of every scenario, and ends with the screen.
func TestFullTour(t *testing.T) {
	var out bytes.Buffer
	style := terminal.Style{Width: 100}
	if err := Text(&out, synthetic.Tour(), style); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{"Scenario micro\n", "Scenario mixed\n", "Scenario churn\n", "Scenario burst\n", "Scenario beyond\n", "Over time, in the median round"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the report", want)
		}
	}
	if !strings.HasSuffix(text, screen(t, synthetic.Tour(), style)) {
		t.Errorf("the report does not end with the screen:\n%s", text[len(text)-1500:])
	}
}

// What is about dewpond stands at both ends of a report.
func TestReportBeginsAndEndsWithDewpond(t *testing.T) {
	for name, d := range synthetic.Scenarios() {
		var out bytes.Buffer
		if err := Text(&out, d, terminal.Style{Width: 1000}); err != nil {
			t.Fatal(err)
		}
		text := strings.TrimSpace(out.String())
		last := text[strings.LastIndex(text, "\n")+1:]
		first := "dewpond beside syncpool-class\n"
		if name == bench.Contest {
			first = "dewpond beside its rivals: "
		}
		if !strings.HasPrefix(text, first) || !strings.HasPrefix(last, "- dew") && !strings.HasPrefix(last, "- Whether dewpond") {
			t.Errorf("%s begins with %.40q and ends with %q", name, text, last)
		}
	}
}

// The screen names the last day that docs/adoption.md has.
func TestScreenDatesPrograms(t *testing.T) {
	document, err := os.ReadFile("../../../../../docs/adoption.md")
	if err != nil {
		t.Fatal(err)
	}
	if last := slices.Max(regexp.MustCompile(`\b20\d\d-\d\d-\d\d\b`).FindAllString(string(document), -1)); last != InPrograms {
		t.Errorf("docs/adoption.md is of %s, and InPrograms is %s", last, InPrograms)
	}
	if text := screen(t, synthetic.Tour(), terminal.Style{Width: 80}); !strings.Contains(text, "In real programs, "+InPrograms+": docs/adoption.md\n") {
		t.Errorf("the screen does not name the document:\n%s", text)
	}
}
