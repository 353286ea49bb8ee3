package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/dewpond/dewpond/instruments/kit/child"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiments"
)

var update = flag.Bool("update", false, "rewrite the golden help texts")

// TestMain lets scripts run this test binary under the name lab, and a test as its own child.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "round" {
		os.Exit(run(os.Args[1:]))
	}
	testscript.Main(m, map[string]func(){"lab": main})
}

func TestScripts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	testscript.Run(t, testscript.Params{Dir: "testdata/script", RequireExplicitExec: true, UpdateScripts: *update})
}

// The document has every experiment and every claim, and no other.
func TestDocument(t *testing.T) {
	data, err := os.ReadFile("results.md")
	if err != nil {
		t.Fatal(err)
	}
	var got, want []string
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "## ") && line != "## Claims that failed" || strings.HasPrefix(line, "**") {
			got = append(got, line)
		}
	}
	for _, e := range experiments.All() {
		want = append(want, "## "+e.ID)
		for _, c := range e.Claims {
			want = append(want, fmt.Sprintf("**%s** (%s)", c.Text, c.Publication))
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("results.md lacks %q", line)
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("results.md has %q, and the lab has not", line)
		}
	}
	if t.Failed() {
		t.Log("on a quiet machine: go run ./instruments/lab all --markdown instruments/lab/results.md")
	}
}

// TestShape runs every case of every experiment once, tiny, in a process of its own. It looks at
// what is measured and not at how much: each claim has something to judge, and each plot
// something to draw.
func TestShape(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	for _, e := range experiments.All() {
		t.Run(e.ID, func(t *testing.T) {
			t.Parallel()
			var all []result.Round
			for _, name := range e.Cases {
				if _, ok := e.Builds[name]; ok {
					continue // it would be built first
				}
				var r result.Round
				task := experiment.Task{Experiment: e.ID, Case: name, Scale: experiment.Tiny}
				if err := child.Run(context.Background(), []string{"round"}, task, &r); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				if len(r.Figures)+len(r.Series) == 0 {
					t.Errorf("%s has no figures", name)
				}
				all = append(all, r)
			}
			m := experiment.Collect(all, nil)
			for _, c := range e.Claims {
				f := c.Judge(m)
				if f.Verdict == "" || f.Measured == "" || f.Control == "" || f.Why == "" || f.Do == "" {
					t.Errorf("%s: its finding is %+v", c.ID, f)
				}
				// “Cannot be true” has arithmetic that no figure here can change.
				impossible := f.Verdict == experiment.Impossible
				if impossible != (f.Arithmetic != "") || impossible && !c.Reach.Computed {
					t.Errorf("%s is %q with the arithmetic %q; its own figures decide: %v", c.ID, f.Verdict, f.Arithmetic, c.Reach.Computed)
				}
				if c.Reach.Computed && !impossible && f.Verdict != experiment.Inconsistent {
					t.Errorf("%s is decided by its own figures, and is %q", c.ID, f.Verdict)
				}
			}
			for _, p := range e.Plots {
				drawn := false
				for _, name := range m.Cases() {
					drawn = drawn || p.Figure != "" && m.Has(experiment.At(name, p.Figure)) || p.Series != "" && len(m.Curve(name, p.Series)) > 1 ||
						p.More != "" && m.Has(experiment.At(name, p.More), experiment.At(name, p.Less))
				}
				if !drawn {
					t.Errorf("no case has what the plot %q draws", p.Title)
				}
			}
		})
	}
}
