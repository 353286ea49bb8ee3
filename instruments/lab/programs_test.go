package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/lab/internal/programs"
)

// Tests alone have no figures to keep.
func TestProgramsRefuse(t *testing.T) {
	for _, c := range []programsCommand{{Tests: true, Pairs: 1, Resume: "x"}, {Tests: true, Pairs: 1, Markdown: "x"}, {Tests: true, Pairs: 1, Update: "x"}, {GOGC: true, Pairs: 1, Tests: true}, {GOGC: true, Pairs: 1, Update: "x"}, {Pairs: 0}, {Pairs: 1, Loads: true, Update: "x"}, {Pairs: 1, Loads: true, Tests: true}, {Pairs: 1, Procs: []int{2, 0}}, {Pairs: 1, Names: []string{"bytebufferpool"}}} {
		if err := c.Run(t.Context()); !errors.As(err, new(command.UsageError)) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// What is kept after a program is what a later run goes on from.
func TestProgramsResume(t *testing.T) {
	file := filepath.Join(t.TempDir(), "figures.json")
	if kept, err := resumed(file); err != nil || kept != nil {
		t.Errorf("of a file that is not there: %v, %v", kept, err)
	}
	all := []programs.Outcome{{
		Program: "fixture", Version: "v1.0.0", Lines: programs.Lines{Added: 2, Removed: 1},
		Before: programs.Tests{Passed: 3, Failures: []string{"TestA"}},
		Rounds: []result.Round{{Scenario: "load", Contender: programs.Original, Ops: 5, Figures: map[string]float64{"cpu_time_ns": 7}}},
	}}
	if err := keep(file, all); err != nil {
		t.Fatal(err)
	}
	kept, err := resumed(file)
	if err != nil || len(kept) != 1 || kept[0].Lines != all[0].Lines || kept[0].Before.Failures[0] != "TestA" || kept[0].Rounds[0].Figures["cpu_time_ns"] != 7 {
		t.Errorf("kept is %+v, %v", kept, err)
	}
	if err := os.WriteFile(file, []byte("something else"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, wrong := range []string{file, filepath.Join(file, "below")} {
		if _, err := resumed(wrong); err == nil {
			t.Errorf("%s is no error", wrong)
		}
	}
}

// The document is what the kept figures say, and a run of one program leaves the rows of the others.
func TestAdoption(t *testing.T) {
	kept, err := resumed("testdata/programs.json")
	if err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	if err := programs.Markdown(&got, programs.Report{Command: pageCommand, Programs: programs.All(), Outcomes: kept}); err != nil {
		t.Fatal(err)
	}
	const page = "../../docs/adoption.md"
	if *update {
		if err := os.WriteFile(page, got.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(page); err != nil || got.String() != string(want) {
		t.Errorf("docs/adoption.md is not of the kept figures (%v); go test ./instruments/lab -run Adoption -update writes it", err)
	}
	for _, o := range kept {
		for _, name := range o.Checked.Failures {
			if name != programs.Withheld {
				t.Errorf("%s: the file names a test that fails under checks", o.Program)
			}
		}
	}
}

// With --update the report has all that is kept, also where a program cannot be measured; with --resume
// it has what was asked for.
func TestProgramsUpdate(t *testing.T) {
	kept, err := resumed("testdata/programs.json")
	if err != nil {
		t.Fatal(err)
	}
	dns, err := programs.Find(programs.All(), []string{"dns"})
	if err != nil {
		t.Fatal(err)
	}
	broken := programs.Bench{Dir: t.TempDir(), Root: "../..", Do: func(context.Context, programs.Step) (programs.Ending, error) {
		return programs.Ending{}, errors.New("no network")
	}}
	file := filepath.Join(t.TempDir(), "figures.json")
	update := &programsCommand{Update: file}
	r, faults, err := update.measure(t.Context(), broken, programs.All(), dns, slices.Clone(kept))
	if err != nil || len(faults) != 1 || !slices.Equal(r.Failed, []string{"dns"}) || len(r.Outcomes) != len(kept) {
		t.Errorf("updated: %d of %d programs, %v failed (%v, %v)", len(r.Outcomes), len(kept), r.Failed, faults, err)
	}
	resume := &programsCommand{Resume: file}
	r, _, err = resume.measure(t.Context(), broken, programs.All(), dns, slices.Clone(kept))
	if err != nil || r.Failed != nil || len(r.Outcomes) != 1 || r.Outcomes[0].Program != "dns" {
		t.Errorf("resumed: %d programs, %v failed (%v)", len(r.Outcomes), r.Failed, err)
	}
}
