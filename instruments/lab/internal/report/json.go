package report

import (
	"encoding/json"
	"fmt"
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
	// Rounds are the figures of each round, by experiment, case and name, so that a claim can be judged
	// again. A round that lacks the figure is null.
	Rounds map[string]map[string]map[string]series `json:"rounds"`
}

// A series has a figure by its round.
type series []*float64

func seriesOf(m experiment.Measured) map[string]map[string]series {
	out := map[string]map[string]series{}
	for _, r := range m.Rounds {
		if r.Cut {
			continue
		}
		of := out[r.Contender]
		if of == nil {
			of = map[string]series{}
			out[r.Contender] = of
		}
		for name, x := range r.Figures {
			if math.IsNaN(x) || math.IsInf(x, 0) {
				continue
			}
			for len(of[name]) <= r.Round {
				of[name] = append(of[name], nil)
			}
			of[name][r.Round] = &x
		}
	}
	return out
}

// Kept returns what a report that was written as JSON has measured, by experiment.
func Kept(data []byte) (map[string]experiment.Measured, error) {
	var d struct {
		Schema int
		Rounds map[string]map[string]map[string]series
	}
	if err := json.Unmarshal(data, &d); err != nil {
		return nil, err
	}
	if d.Schema != Schema || len(d.Rounds) == 0 {
		return nil, fmt.Errorf("schema %d with the rounds of %d experiments, want schema %d", d.Schema, len(d.Rounds), Schema)
	}
	out := map[string]experiment.Measured{}
	for id, cases := range d.Rounds {
		var m experiment.Measured
		for name, figures := range cases {
			for figure, of := range figures {
				for round, x := range of {
					if x != nil {
						m.Rounds = append(m.Rounds, result.Round{Contender: name, Round: round, Figures: map[string]float64{figure: *x}})
					}
				}
			}
		}
		out[id] = m
	}
	return out, nil
}

type finding struct {
	ID    string `json:"id"` // of the claim
	Claim string `json:"claim"`
	experiment.Finding
	Publication publication `json:"publication"`
}

// A publication has a title, in English too if it is in another language, and an address if that is known.
type publication struct {
	Title       string `json:"title,omitempty"`
	Translation string `json:"translation,omitempty"`
	Address     string `json:"address,omitempty"`
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
		Findings: []finding{}, Figures: map[string]map[string]map[string]result.Figure{}, Rounds: map[string]map[string]map[string]series{}}
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
		d.Rounds[o.ID] = seriesOf(o.Measured)
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
