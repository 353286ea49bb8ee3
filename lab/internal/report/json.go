package report

import (
	"cmp"
	"encoding/json"
	"io"

	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/lab/internal/experiment"
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
	// Figures are by experiment, case and name.
	Figures map[string]map[string]map[string]result.Figure `json:"figures"`
}

type finding struct {
	ID          string `json:"id"`
	Claim       string `json:"claim"`
	Publication struct {
		Title   string `json:"title"`
		Address string `json:"address,omitempty"`
	} `json:"article"`
	experiment.Finding
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
		Figures: map[string]map[string]map[string]result.Figure{}}
	for _, o := range r.Outcomes {
		for i, f := range o.Findings {
			c := o.Claims[i]
			row := finding{ID: c.ID, Claim: c.Text, Finding: f}
			row.Publication.Title, row.Publication.Address = cmp.Or(c.Publication.Title, c.Publication.About), c.Publication.Address
			d.Findings = append(d.Findings, row)
		}
		of := map[string]map[string]result.Figure{}
		for _, c := range o.Measured.Contenders() {
			of[c.Name] = c.Figures
		}
		d.Figures[o.ID] = of
		for name, why := range o.Measured.Absent {
			d.Failures = append(d.Failures, failure{o.ID, name, why})
		}
	}
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(d)
}
