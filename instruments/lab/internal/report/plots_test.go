package report

import (
	"slices"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/bars"
	"github.com/dewpond/dewpond/instruments/kit/page"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiments"
)

// Every bar that the lab draws shows the value that was measured, and a case without it has no bar.
func TestBarsShowWhatWasMeasured(t *testing.T) {
	for _, e := range experiments.All() {
		for _, p := range e.Plots {
			if p.Figure == "" { // another kind of plot
				continue
			}
			m := experiment.MadeUp(0, map[string]map[string]float64{"half": {p.Figure: 20}, "whole": {p.Figure: 40}, "without": {"something_else_ns": 3}})
			c := bars.Compare(m.Bars(p.Figure), p.Figure, p.Title, p.Note)
			if len(c.Bars) != 2 || c.Bars[0].Length != 50 || c.Bars[1].Length != 100 {
				t.Errorf("%s: the bars of %s are %+v, want two of 50 and 100 percent", e.ID, p.Figure, c.Bars)
			}
		}
	}
}

// The front leaves out what another beats, and what is there twice.
func TestFront(t *testing.T) {
	got := front([][2]float64{{9, 5}, {5, 1}, {8, 6}, {2, 1}, {5, 1}, {9, 7}})
	if want := [][2]float64{{5, 1}, {9, 5}}; !slices.Equal(got, want) {
		t.Errorf("the front is %v, want %v", got, want)
	}
}

// The front is drawn besides each case.
func TestTrade(t *testing.T) {
	m := experiment.MadeUp(0.1, map[string]map[string]float64{"fast": {"a_per_sec": 9, "b_ns": 5}, "short": {"a_per_sec": 5, "b_ns": 1}, "worse": {"a_per_sec": 4, "b_ns": 6}, "half": {"a_per_sec": 4}})
	o := Outcome{Experiment: experiment.Experiment{ID: "made-up"}, Measured: m}
	curves, best := trade(new(page.Gallery), o, experiment.Plot{More: "a_per_sec", Less: "b_ns"}, func(string) int { return 0 })
	var names []string
	for _, c := range curves {
		names = append(names, c.Name)
	}
	if !slices.Equal(names, []string{"fast", "short", "worse", "the front"}) || len(curves[3].Points) != 2 || !slices.Equal(best, []string{"fast", "short"}) {
		t.Errorf("drawn are %q, the best %q: %v", names, best, curves)
	}
}
