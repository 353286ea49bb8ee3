package main

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/child"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiments"
	"github.com/dewpond/dewpond/instruments/lab/internal/report"
)

// Each claim that counts can be confirmed, and refused, by its experiment as --quick runs it: a case with the
// effect gets over the judge's thresholds at that length, and one without does not. Counts come out the
// same each time, so one round is measured and taken for all.
func TestReachOfCounts(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	for _, e := range experiments.All() {
		t.Run(e.ID, func(t *testing.T) {
			var counted []experiment.Claim
			for _, c := range e.Claims {
				if !c.Reach.Timed && !c.Reach.Computed {
					counted = append(counted, c)
				}
			}
			if len(counted) == 0 {
				t.Skip("no claim of it counts")
			}
			var all []result.Round
			for _, name := range e.Cases {
				if _, ok := e.Builds[name]; ok {
					continue // what it times is in the full run
				}
				var r result.Round
				task := experiment.Task{Experiment: e.ID, Case: name, Scale: experiment.Quick}
				if err := child.Run(context.Background(), []string{"round"}, task, &r); err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for round := range summary.VerdictRounds {
					r.Round = round
					all = append(all, r)
				}
			}
			m := experiment.Collect(all, nil)
			for _, c := range counted {
				reaches(t, c, m, true)
			}
		})
	}
}

// The full run that is kept shows the same of the claims that time: a busy machine would show noise.
func TestReachOfTimes(t *testing.T) {
	data, err := os.ReadFile("testdata/full.json")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := report.Kept(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range experiments.All() {
		for _, c := range e.Claims {
			if c.Reach.Timed || c.Reach.Short != "" {
				reaches(t, c, kept[e.ID], false)
			}
		}
	}
	if t.Failed() {
		t.Log("on a quiet machine: go run ./instruments/lab all --json instruments/lab/testdata/full.json")
	}
}

// reaches requires that a claim is confirmed by what has its effect, and refused by what has not.
func reaches(t *testing.T, c experiment.Claim, m experiment.Measured, quick bool) {
	t.Helper()
	if c.Reach.Holds == nil || c.Reach.Fails == nil {
		t.Errorf("%s does not say which cases of its experiment would confirm and refuse it", c.ID)
		return
	}
	f := c.Judge(m.As(c.Reach.Holds))
	confirmed := f.Verdict == experiment.Reproduced || f.Verdict == experiment.DirectionOnly && strings.HasSuffix(f.Why, experiment.Larger)
	switch {
	case quick && c.Reach.Short != "":
		if f.Verdict != experiment.DirectionOnly || !strings.HasPrefix(f.Why, "too short") {
			t.Errorf("%s is too short to confirm, as it says, and what would is %q: %s", c.ID, f.Verdict, f.Why)
		}
	case c.Reach.Ceiling && f.Verdict == experiment.CannotTell && strings.Contains(f.Why, "control"):
	case !confirmed:
		t.Errorf("%s cannot be confirmed: a case with its effect is %q: %s (%s; %s)", c.ID, f.Verdict, f.Why, f.Measured, f.Control)
	}
	f = c.Judge(m.As(c.Reach.Fails))
	switch {
	case f.Verdict == experiment.NotReproduced || f.Verdict == experiment.Inconsistent:
	case c.Reach.Ceiling && f.Verdict == experiment.CannotTell && strings.Contains(f.Why, "control"):
	default:
		t.Errorf("%s cannot be refused: a case without its effect is %q: %s (%s; %s)", c.ID, f.Verdict, f.Why, f.Measured, f.Control)
	}
}
