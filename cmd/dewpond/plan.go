package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/answer"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/digest"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

const (
	defaultRounds = 6 // the fewest for which a 95 % interval of a median exists
	quickDivisor  = 4 // the windows of --quick are shorter by this factor
)

// A plan is what one scenario of a benchmark runs.
type plan struct {
	scenario   workload.Scenario
	spec       workload.Spec // without Contender and Round
	contenders []string
	rounds     int
}

// defaultPlan returns the plan of a scenario without flags, or with --quick alone.
func defaultPlan(scenario workload.Scenario, quick bool) plan {
	p := plan{scenario: scenario, spec: scenario.Defaults, contenders: scenario.Entrants(), rounds: cmp.Or(scenario.Rounds, defaultRounds)}
	p.spec.Scenario = scenario.Name
	if quick {
		p.rounds = scenario.QuickRounds
		p.spec.Duration = cmp.Or(scenario.QuickDuration, p.spec.Duration/quickDivisor)
		p.spec.Every /= quickDivisor
		p.spec.IdleTimeout /= quickDivisor
	}
	return p
}

// plan turns the flags into the rounds to run, or into one error that names every invalid
// flag. read does the same for the scenario's own flags.
func (b *benchFlags) plan(scenario workload.Scenario, read func(*flagReader, *workload.Spec)) (plan, error) {
	p := defaultPlan(scenario, b.Quick)
	var r flagReader
	r.contenders(b.Contenders, &p.contenders)
	r.number("rounds", b.Rounds, &p.rounds, 1, 1000)
	r.duration("duration", b.Duration, &p.spec.Duration, "length of a round", leastDuration, mostDuration)
	if read != nil {
		read(&r, &p.spec)
	}
	if b.Contenders == nil {
		p.contenders = slices.DeleteFunc(p.contenders, func(name string) bool { return p.excludes(name) != "" })
	}
	for _, name := range p.contenders {
		if why := p.excludes(name); why != "" {
			r.add("contenders", fmt.Errorf("%s cannot take part: %s", name, why))
		}
	}
	if err := errors.Join(r.errs...); err != nil {
		return p, err
	}
	return p, nil
}

// excludes returns why the contender with a name cannot take part, or "".
func (p plan) excludes(name string) string {
	found, err := contender.Find([]string{name})
	if err != nil {
		return "" // it is an error already
	}
	return p.scenario.Excludes(found[0], p.spec)
}

// document makes the document of the plan's rounds.
func (p plan) document(e bench.Conditions, measured []result.Round, quick bool) (bench.Document, error) {
	d, err := digest.Of(e, p.describe(quick), abouts(), measured)
	if err != nil {
		return d, err
	}
	d.Answers = answer.Of(d)
	d.Words = words.Of(d).All()
	d.Command = commandLine()
	return d, nil
}

// commandLine returns this command with its arguments.
func commandLine() []string { return append([]string{"dewpond"}, os.Args[1:]...) }

func abouts() map[string]string {
	m := map[string]string{}
	for _, c := range contender.All() {
		m[c.Name] = c.About
	}
	return m
}

// describe returns the plan as the report shows it.
func (p plan) describe(quick bool) bench.Scenario {
	s, scenario := p.spec, p.scenario
	d := bench.Scenario{
		Name:       s.Scenario,
		Mode:       "closed",
		Goroutines: s.Goroutines,
		Mix:        s.Mix.String(),
		Rate:       s.Rate,
		Rounds:     p.rounds,
		Duration:   s.Duration.String(),
		Sample:     s.Sample,
		Zero:       s.Zero(),
		Quick:      quick,
		Garbage:    "none",

		Blocks:      s.Blocks,
		Bursts:      s.Bursts,
		Collections: s.Collections,
		Seeds:       s.Seeds,
	}
	if s.Written > 0 {
		d.Written = fmt.Sprintf("%d B", s.Written)
	}
	if s.SecondSize > 0 {
		d.SecondSize = fmt.Sprintf("%d B", s.SecondSize)
	}
	if s.MemoryLimit > 0 {
		d.MemoryLimit = fmt.Sprintf("%d B", s.MemoryLimit)
	}
	if s.Late > 0 {
		d.Late = s.Late.String()
	}
	if s.Every > 0 {
		d.Every = s.Every.String()
	}
	if s.Limit > 0 {
		d.Limit, d.Times = fmt.Sprintf("%d B", s.Limit), s.Times
	}
	if s.IdleTimeout > 0 {
		d.IdleTimeout = s.IdleTimeout.String()
	}
	if scenario.Paced {
		d.Mode = "paced"
	}
	if s.Live > 0 {
		d.Live = fmt.Sprintf("%d B", s.Live)
	}
	if s.Garbage > 0 {
		d.Garbage = fmt.Sprintf("%d B/s", s.Garbage)
	}
	if s.Open {
		d.Mode = "open"
	}
	if scenario.Holding {
		d.Hold = s.Hold.String()
	}
	return d
}
