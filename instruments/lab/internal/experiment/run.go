package experiment

import (
	"context"
	"fmt"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/result"
)

// A Scale says how large an experiment is.
type Scale string

// The scales. Tiny is for tests, which look at the shape of what is measured and not at its size.
const (
	Full  Scale = ""
	Quick Scale = "quick"
	Tiny  Scale = "tiny"
)

// A Task is what a child process is asked to run.
type Task struct {
	Experiment, Case string
	Round            int
	Scale            Scale
}

// A Run is one case in one round, in a process of its own.
type Run struct {
	Context context.Context
	Task
	result result.Round
}

// Skipped begins the error of a case that this machine does not allow. It comes from a child, as text.
const Skipped = "skipped: "

// NotHere is the error of a case that this machine does not allow, and why.
func NotHere(why error) error { return fmt.Errorf(Skipped+"%w", why) }

// Do runs a task in this process.
func (e Experiment) Do(ctx context.Context, t Task) (result.Round, error) {
	r := &Run{Context: ctx, Task: t, result: result.Round{
		Scenario: t.Experiment, Contender: t.Case, Round: t.Round, Ops: 1, Figures: map[string]float64{}, Series: map[string][]result.Point{},
	}}
	if err := e.Run(r); err != nil {
		return result.Round{}, err
	}
	return r.result, nil
}

// Set gives a figure its value. Its name says its unit by its ending: _ns, _bytes, _per_sec or
// none, as in package figure.
func (r *Run) Set(figure string, v float64) { r.result.Figures[figure] = v }

// SetOf sets a figure of another case, which this one has measured in turn with its own: so
// their ratio is of times that are close together.
func (r *Run) SetOf(name, figure string, v float64) { r.result.Figures[name+split+figure] = v }

// split separates a case from its figure where one process measures several cases.
const split = "|"

// Point adds a point to a series, in ascending order of x.
func (r *Run) Point(series string, x, y float64) {
	r.result.Series[series] = append(r.result.Series[series], result.Point{Seconds: x, Value: y})
}

// Span returns how long to measure what takes that long in a full run.
func (r *Run) Span(full time.Duration) time.Duration {
	switch r.Scale {
	case Quick:
		return full / QuickDivisor
	case Tiny:
		return max(full/200, time.Millisecond)
	}
	return full
}

// Count returns how often to do what a full run does that often.
func (r *Run) Count(full int) int {
	switch r.Scale {
	case Quick:
		return max(full/QuickDivisor, 1)
	case Tiny:
		return max(full/200, 1)
	}
	return full
}

// Get returns a figure that was set before.
func (r *Run) Get(figure string) float64 { return r.result.Figures[figure] }

// GetOf returns a figure that was set for another case.
func (r *Run) GetOf(name, figure string) float64 { return r.result.Figures[name+split+figure] }
