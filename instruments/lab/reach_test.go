package main

import (
	"context"
	"fmt"
	"os"
	"slices"
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
				err := child.Run(context.Background(), []string{"round"}, task, &r)
				if err != nil && strings.Contains(err.Error(), experiment.Skipped) {
					t.Skipf("%s: %v", name, err)
				}
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for round := range summary.VerdictRounds {
					r.Round = round
					all = append(all, r)
				}
			}
			m := experiment.Collect(all, nil)
			for _, c := range counted {
				for _, why := range reach(c, m, true) {
					t.Error(why)
				}
			}
		})
	}
}

// unseen are the claims that time of which the kept run does not show both sides: on the machine of two shared
// processors that made it, their intervals are too wide. A run on a quieter machine empties this list.
var unseen = []string{
	"json-user/time",
	"protobuf-pareto/more",
}

// The run that is kept shows the same of the claims that time: measured here, a busy machine would decide.
func TestReachOfTimes(t *testing.T) {
	data, err := os.ReadFile("testdata/kept.json")
	if err != nil {
		t.Fatal(err)
	}
	kept, err := report.Kept(data)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range experiments.All() {
		for _, c := range e.Claims {
			if !c.Reach.Timed && c.Reach.Short == "" {
				continue
			}
			why := reach(c, kept[e.ID], false)
			switch listed := slices.Contains(unseen, c.ID); {
			case listed && len(why) == 0:
				t.Errorf("%s: the kept run shows both sides of it; remove it from the list", c.ID)
			case !listed && len(why) > 0:
				t.Errorf("%s", strings.Join(why, "\n"))
			}
		}
	}
	if t.Failed() {
		t.Log("on a quiet machine: go run ./instruments/lab all --json instruments/lab/testdata/kept.json")
	}
}

// reach says why a claim is not confirmed by what has its effect, or not refused by what has not.
func reach(c experiment.Claim, m experiment.Measured, quick bool) (why []string) {
	if c.Reach.Holds == nil || c.Reach.Fails == nil {
		return []string{c.ID + " does not say which cases of its experiment would confirm and refuse it"}
	}
	say := func(format string, f experiment.Finding) {
		why = append(why, fmt.Sprintf(c.ID+" "+format+" is %q: %s (%s; %s)", f.Verdict, f.Why, f.Measured, f.Control))
	}
	f := c.Judge(m.As(c.Reach.Holds))
	confirmed := f.Verdict == experiment.Reproduced || f.Verdict == experiment.DirectionOnly && strings.HasSuffix(f.Why, experiment.Larger)
	switch {
	case quick && c.Reach.Short != "":
		if f.Verdict != experiment.DirectionOnly || !strings.HasPrefix(f.Why, "too short") {
			say("is too short to confirm, as it says, and what would", f)
		}
	case c.Reach.Ceiling && f.Verdict == experiment.CannotTell && strings.Contains(f.Why, "control"):
	case !confirmed:
		say("cannot be confirmed: a case with its effect", f)
	}
	f = c.Judge(m.As(c.Reach.Fails))
	switch {
	case f.Verdict == experiment.NotReproduced || f.Verdict == experiment.Inconsistent:
	case c.Reach.Ceiling && f.Verdict == experiment.CannotTell && strings.Contains(f.Why, "control"):
	default:
		say("cannot be refused: a case without its effect", f)
	}
	return why
}
