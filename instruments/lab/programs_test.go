package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/lab/internal/programs"
)

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
