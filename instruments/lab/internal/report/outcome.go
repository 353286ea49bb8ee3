// Package report writes what the lab has found: as text, JSON, one HTML file, and Markdown.
package report

import (
	"fmt"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// A Report is everything that one run of the lab has found.
type Report struct {
	Command     string
	Environment result.Environment
	Quick       bool
	Interrupted bool
	Outcomes    []Outcome
}

// An Outcome is one experiment with its figures and findings.
type Outcome struct {
	experiment.Experiment
	Measured experiment.Measured
	Findings []experiment.Finding // of its claims
}

// Judge returns the outcome of what an experiment has measured.
func Judge(e experiment.Experiment, m experiment.Measured) Outcome {
	o := Outcome{Experiment: e, Measured: m}
	for _, c := range e.Claims {
		o.Findings = append(o.Findings, c.Judge(m))
	}
	return o
}

// counts returns how many claims got each verdict.
func (r Report) counts() map[experiment.Verdict]int {
	n := map[experiment.Verdict]int{}
	for _, o := range r.Outcomes {
		for _, f := range o.Findings {
			n[f.Verdict]++
		}
	}
	return n
}

// Summary says in one line how many claims got each verdict.
func (r Report) Summary() string {
	n, s := r.counts(), ""
	for _, v := range experiment.Verdicts {
		if n[v] == 0 {
			continue
		}
		if s != "" {
			s += ", "
		}
		s += fmt.Sprintf("%d %s", n[v], v)
	}
	return s
}

// machine describes where and when it was measured.
func (r Report) machine() string {
	e := r.Environment
	when := e.Time
	if t, err := time.Parse(time.RFC3339, e.Time); err == nil {
		when = t.Format(time.DateOnly)
	}
	s := fmt.Sprintf("%s, %s, %d processors, %s/%s, %s, load %.1f", when, e.Machine, e.CPUs, e.OS, e.Arch, e.GoVersion, e.LoadAverage[0])
	if r.Quick {
		s += "; --quick: small counts and short spans"
	}
	if r.Interrupted {
		s += "; interrupted: this is what was measured until then"
	}
	return s
}
