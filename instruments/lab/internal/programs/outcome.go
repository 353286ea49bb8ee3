package programs

import (
	"fmt"
	"slices"

	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// An Outcome is what was found of one program.
type Outcome struct {
	Program     string             `json:"program"`
	Version     string             `json:"version"`
	Commit      string             `json:"commit,omitempty"` // of the repository
	Environment result.Environment `json:"environment"`
	Procs       []int              `json:"procs,omitempty"` // the values of GOMAXPROCS of each load: see [Program.At]
	Lines       Lines              `json:"lines"`
	Before      Tests              `json:"before"`  // of the program as it is
	After       Tests              `json:"after"`   // of the program as it is edited
	Checked     Tests              `json:"checked"` // the same, with all pools watched: see [Withheld]
	Rounds      []result.Round     `json:"rounds"`  // Scenario is the load's name
}

// Replace puts an outcome in the place of those of its program, and returns all in the order of the report.
func Replace(all []Outcome, o Outcome) []Outcome {
	all = append(slices.DeleteFunc(all, func(old Outcome) bool { return old.Program == o.Program }), o)
	place := func(o Outcome) int {
		return slices.IndexFunc(All(), func(p Program) bool { return p.Name == o.Program })
	}
	slices.SortStableFunc(all, func(a, b Outcome) int { return place(a) - place(b) })
	return all
}

// Tests is what became of a program's own tests.
type Tests struct {
	Passed   int      `json:"passed"` // with subtests
	Failures []string `json:"failures"`
	Reports  int      `json:"reports"`
	// Of the tests that failed in the run of either side, so many failed again, and again, of that many runs.
	Again int `json:"again"`
	Of    int `json:"of"`
}

// Withheld stands for the name of a test that fails under checks: it may name a fault that nobody knows yet.
const Withheld = "withheld"

// The figures of a load, in the order of the report.
const (
	cpu         = "cpu_time_ns"
	allocs      = "allocs_per_op"
	bytesEach   = "alloc_bytes_per_op"
	collections = "collections"
	peak        = "rss_peak_bytes"
	p99         = "response_p99_ns"
)

var allFigures = []string{cpu, allocs, bytesEach, collections, peak, p99}

// aims are the most that a figure of the edited program may be, as a multiple of the control's.
var aims = map[string]float64{cpu: 1.05, peak: 1.10}

func (o Outcome) measured(load string) experiment.Measured {
	return experiment.Measured{Rounds: slices.DeleteFunc(slices.Clone(o.Rounds), func(r result.Round) bool { return r.Scenario != load })}
}

// median is the control's, where the load has the figure.
func (o Outcome) median(load, figure string) (median float64, ok bool) {
	m, at := o.measured(load), experiment.At(o.control(load), figure)
	return m.Figure(at).Median, m.Has(at)
}

// control is what the edited program is compared with: Linked, or the program as it is if that side was not measured.
func (o Outcome) control(load string) string {
	if o.measured(load).Has(experiment.At(Linked, peak)) {
		return Linked
	}
	return Original
}

func (o Outcome) ratio(load, figure string) result.Ratio {
	return o.measured(load).Ratio(experiment.At(Migrated, figure), experiment.At(o.control(load), figure))
}

// linking compares Linked with the program as it is.
func (o Outcome) linking(load, figure string) result.Ratio {
	return o.measured(load).Ratio(experiment.At(Linked, figure), experiment.At(Original, figure))
}

// side is verdict's, and None where there is nothing to compare.
func (o Outcome) side(load, figure string) verdict.Side {
	return verdict.OfRatio(o.ratio(load, figure), false, verdict.Least)
}

// missed reports whether a ratio is above an aim, and more than chance explains. The document says it in words.
func missed(r result.Ratio, most float64) bool {
	return r.Rounds >= summary.VerdictRounds && r.Median > most && r.Low > 1
}

// Missed returns the loads that miss an aim.
func (o Outcome) Missed(p Program) (all []Load) {
	for _, l := range p.At(o.Procs).Loads {
		for figure, most := range aims {
			if missed(o.ratio(l.Name, figure), most) {
				all = append(all, l)
				break
			}
		}
	}
	return all
}

// Faults says what a night fails for: an aim that is missed, a test that fails of the edited
// program and not of the other, or a report of checked mode on a program that is clean.
func (o Outcome) Faults(p Program) (all []error) {
	for _, l := range o.Missed(p) {
		for _, figure := range allFigures {
			if most, ok := aims[figure]; ok && missed(o.ratio(l.Name, figure), most) {
				all = append(all, fmt.Errorf("%s, %s: %s is %s of that of the side %s, and should be %.2f at most", p.Name, l.Name, label(figure), text(o.ratio(l.Name, figure)), o.control(l.Name), most))
			}
		}
	}
	if o.After.Of > 0 && o.After.Again == o.After.Of && o.Before.Again == 0 {
		all = append(all, fmt.Errorf("%s: of its tests with dewpond some fail in each of %d runs, and of those without none", p.Name, o.After.Of))
	}
	if p.Clean && o.Checked.Reports > 0 {
		all = append(all, fmt.Errorf("%s: its tests with checks have %d reports, and should have none", p.Name, o.Checked.Reports))
	}
	return all
}
