package report

import (
	"encoding/json"
	"io"
	"maps"
	"math"
	"slices"

	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// Schema is the version of what [JSON] writes. It increases if a field changes its meaning or goes
// away, not if one is added.
const Schema = 1

type document struct {
	Schema      int                `json:"schema"`
	Command     string             `json:"command"`
	Environment result.Environment `json:"environment"`
	Quick       bool               `json:"quick"`
	Interrupted bool               `json:"interrupted"`
	Findings    []finding          `json:"findings"`
	Failures    []failure          `json:"failures,omitempty"`
	// Figures are by experiment, case and name. One that is no finite number is left out.
	Figures map[string]map[string]map[string]result.Figure `json:"figures"`
}

type finding struct {
	ID    string `json:"id"` // of the claim
	Claim string `json:"claim"`
	experiment.Finding
	Publication publication `json:"publication"`
}

// A publication has a title, or what it is about where that is not known.
type publication struct {
	Title   string `json:"title,omitempty"`
	About   string `json:"about,omitempty"`
	Address string `json:"address,omitempty"`
}

// A failure is a case that could not be run to its end.
type failure struct {
	Experiment string `json:"experiment"`
	Case       string `json:"case"`
	Why        string `json:"why"`
}

// JSON writes the findings, and the figures that they rest on.
func JSON(w io.Writer, r Report) error {
	d := document{Schema: Schema, Command: r.Command, Environment: r.Environment, Quick: r.Quick, Interrupted: r.Interrupted,
		Findings: []finding{}, Figures: map[string]map[string]map[string]result.Figure{}}
	for _, o := range r.Outcomes {
		for i, f := range o.Findings {
			c := o.Claims[i]
			d.Findings = append(d.Findings, finding{ID: c.ID, Claim: c.Text, Finding: f, Publication: publication(c.Publication)})
		}
		of := map[string]map[string]result.Figure{}
		for _, name := range o.Measured.Cases() {
			of[name] = o.Measured.FiguresOf(name)
			maps.DeleteFunc(of[name], func(_ string, f result.Figure) bool { return !finite(f) })
		}
		d.Figures[o.ID] = of
		for _, name := range slices.Sorted(maps.Keys(o.Measured.Absent)) {
			d.Failures = append(d.Failures, failure{o.ID, name, o.Measured.Absent[name]})
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}

// finite reports whether JSON has numbers for it.
func finite(f result.Figure) bool {
	sum := f.Median + f.Min + f.Max // of numbers of which one is infinite or none
	return !math.IsNaN(sum) && !math.IsInf(sum, 0)
}
