package report_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/report"
)

// flooded runs stages against a target that takes 10 ms, and in the third second 40 ms; then it answers
// every second session with an error.
func flooded(t *testing.T, stages string) (r load.Result) {
	all, err := load.ParseStages(stages)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		r, err = load.Run(t.Context(), load.Scenario{
			Target: "http://127.0.0.1:1", Arrivals: load.Arrivals{Stages: all},
			Session: []load.Step{{Name: "call", Do: load.ActionFunc(func(_ context.Context, c *load.Call) error {
				if at := time.Since(start); at < 2*time.Second || at >= 3*time.Second {
					time.Sleep(10 * time.Millisecond)
					return nil
				}
				time.Sleep(40 * time.Millisecond)
				if c.Number%2 == 0 {
					return errors.New("full")
				}
				return nil
			})}},
		}, load.Options{})
		if err != nil {
			t.Fatal(err)
		}
	})
	return r
}

// TestStages wants the stages in every report: their percentiles, and where they begin.
func TestStages(t *testing.T) {
	r := flooded(t, "2s:100/s,1s:500/s:back,3s:400/s")
	r.Stages[1].Name = "<peak>"
	var text, page bytes.Buffer
	if err := report.WriteText(&text, &r); err != nil {
		t.Fatal(err)
	}
	squeezed := strings.Join(strings.Fields(text.String()), " ")
	for _, want := range []string{
		"due in from for rate offered finished failed dropped P50 P95 P99 P999 P9999 max",
		"stage 1 0 s 2 s 100/s 200 200 0 0 10.0 ms 10.0 ms - - - 10.0 ms",
		"<peak> 2 s 1 s 500/s 500 250 250 0 40.1 ms 40.1 ms",
		"stage 3 3 s 3 s 100/s to 400/s 750 750 0 0 10.0 ms",
		"until begun finished failed dropped in flight P50 P95 slowest",
		"stage 1: 100/s 2 s ", "40.1 ms <peak>: 500/s 4 s ", " stage 3: 100/s to 400/s 5 s ",
	} {
		if !strings.Contains(squeezed, want) {
			t.Errorf("no %q in %s", want, &text)
		}
	}
	if err := report.WriteHTML(&page, &r); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{">stage 3<", ">100/s to 400/s<", "&lt;peak&gt;"} {
		if !strings.Contains(page.String(), want) {
			t.Errorf("no %q in the page", want)
		}
	}
	// Four charts over time, of which each has three marks.
	if n := strings.Count(page.String(), `class="marked"`); n != 4*3 {
		t.Errorf("%d marks, want 12", n)
	}
}

// TestLongCourse wants a table of some thirty rows, whatever the length, and every session in it.
func TestLongCourse(t *testing.T) {
	r := flooded(t, "100s:10/s,0s:30/s,97s:30/s")
	var text bytes.Buffer
	if err := report.WriteText(&text, &r); err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(text.String(), "slowest\n")
	table, _, _ = strings.Cut(table, "\n\n")
	lines := strings.Split(table, "\n")
	if len(lines) != 20 || !strings.HasPrefix(lines[0], "10 s ") || !strings.HasPrefix(lines[19], "197 s ") || !strings.HasSuffix(lines[10], "stage 3: 30/s") {
		t.Errorf("%d rows:\n%s", len(lines), table)
	}
}
