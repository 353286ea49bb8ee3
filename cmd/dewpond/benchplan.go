package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/internal/measure/result"
)

const (
	defaultRounds = 6 // the fewest for which a 95 % interval of a median exists
	quickDivisor  = 4 // --quick's windows are so many times shorter
	defaultRate   = 50_000

	mostLive = 64 << 30

	leastDuration    = time.Millisecond
	mostDuration     = time.Hour
	mostSoak         = 7 * 24 * time.Hour
	leastIdleTimeout = 100 * time.Millisecond // what dewpond takes
)

// plan turns the flags into the rounds to run and into what the report says about
// them; or one error that names every flag that cannot be meant.
func (b *benchCommand) plan() (plan, result.Scenario, error) {
	scenario, err := b.scenario()
	if err != nil {
		return plan{}, result.Scenario{}, err // what the other flags mean depends on it
	}
	p := plan{spec: scenario.Defaults, rounds: defaultRounds}
	p.spec.Scenario = scenario.Name
	if scenario.Rounds > 0 {
		p.rounds = scenario.Rounds
	}
	if b.Quick {
		p.rounds = scenario.QuickRounds
		p.spec.Duration /= quickDivisor
		if scenario.QuickDuration > 0 {
			p.spec.Duration = scenario.QuickDuration
		}
		p.spec.Every /= quickDivisor
		p.spec.IdleTimeout /= quickDivisor
	}
	r := flagReader{scenario: scenario}

	p.contenders = scenario.Entrants()
	if b.Contenders != nil {
		found, err := contender.Find(b.Contenders)
		r.add("contenders", err)
		p.contenders = nil
		for _, c := range found {
			p.contenders = append(p.contenders, c.Name)
		}
	}
	r.number("rounds", b.Rounds, &p.rounds, 1, 1000)
	if b.Duration != nil {
		what, most := "length of a round", mostDuration
		if scenario.Shared {
			what, most = "length of all rounds together", mostSoak
		}
		p.spec.Duration, err = parseDuration(*b.Duration, what, leastDuration, most)
		r.add("duration", err)
	}
	r.number("goroutines", b.Goroutines, &p.spec.Goroutines, 1, 100_000)
	if r.uses("mix", b.Mix != nil) {
		p.spec.Mix, err = parseMix(scenario, *b.Mix)
		r.add("mix", err)
	}
	if r.uses("hold", b.Hold != nil) {
		p.spec.Hold, err = workload.ParseHold(*b.Hold)
		r.add("hold", err)
	}
	if r.uses("garbage", b.Garbage != nil) {
		p.spec.Garbage, err = workload.ParseBytes(*b.Garbage)
		r.add("garbage", err)
	}
	if r.uses("live", b.Live != nil) {
		p.spec.Live, err = workload.ParseBytes(*b.Live)
		if p.spec.Live > mostLive {
			err = fmt.Errorf("%q: give at most 64GiB", *b.Live)
		}
		r.add("live", err)
	}
	if r.uses("mode", b.Mode != nil) {
		p.spec.Open = *b.Mode == "open"
		if !p.spec.Open && *b.Mode != "closed" {
			r.add("mode", fmt.Errorf("unknown mode %q: valid are closed, open", *b.Mode))
		}
	}
	if r.uses("rate", b.Rate != nil) {
		p.spec.Rate = *b.Rate
		switch {
		case !p.spec.Open && !scenario.Paced:
			r.add("rate", errors.New("arrivals have a rate in open mode only: add --mode open"))
		case !(*b.Rate >= 1 && *b.Rate <= 10e6):
			r.add("rate", fmt.Errorf("%v: give 1 to 10000000 a second", *b.Rate))
		}
	}
	r.number("sample", b.Sample, &p.spec.Sample, 1, 1_000_000)
	if p.spec.Open {
		if b.Sample != nil {
			r.add("sample", errors.New("open mode times every operation: leave it out"))
		}
		if b.Rate == nil {
			p.spec.Rate = defaultRate
		}
		p.spec.Sample = 1
	}
	r.number("blocks", b.Blocks, &p.spec.Blocks, 1, 10_000_000)
	r.number("collections", b.Collections, &p.spec.Collections, 1, 1000)
	if r.uses("every", b.Every != nil) {
		p.spec.Every, err = parseDuration(*b.Every, "time between bursts or new pools", leastDuration, mostDuration)
		r.add("every", err)
	}
	if r.uses("idle-timeout", b.IdleTimeout != nil) {
		p.spec.IdleTimeout, err = parseDuration(*b.IdleTimeout, "IdleTimeout", leastIdleTimeout, mostDuration)
		r.add("idle-timeout", err)
	}
	if err := errors.Join(r.errs...); err != nil {
		return p, result.Scenario{}, err
	}
	if scenario.Shared {
		p.spec.Duration /= time.Duration(p.rounds * len(p.contenders))
	}
	return p, describe(scenario, p, b.Quick), nil
}

// scenario is the one asked for, by position or by flag.
func (b *benchCommand) scenario() (workload.Scenario, error) {
	switch {
	case b.Positional == nil && b.Scenario == nil:
		return scenarios()[0], nil
	case b.Positional == nil:
		return findScenario(*b.Scenario)
	case b.Scenario != nil && *b.Scenario != *b.Positional:
		return workload.Scenario{}, fmt.Errorf("scenario %q and --scenario %q: there can be only one, leave the flag out", *b.Positional, *b.Scenario)
	}
	return findScenario(*b.Positional)
}

// describe is the plan as the report shows it.
func describe(scenario workload.Scenario, p plan, quick bool) result.Scenario {
	s := p.spec
	d := result.Scenario{
		Name:       s.Scenario,
		Mode:       "closed",
		Goroutines: s.Goroutines,
		Mix:        s.Mix.String(),
		Rate:       s.Rate,
		Rounds:     p.rounds,
		Duration:   s.Duration.String(),
		Sample:     s.Sample,
		Zero:       scenario.Zero(),
		Quick:      quick,
		Garbage:    "none",

		Blocks:      s.Blocks,
		Collections: s.Collections,
	}
	if s.Every > 0 {
		d.Every = s.Every.String()
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
	if slices.Contains(scenario.Uses, "hold") {
		d.Hold = s.Hold.String()
	}
	return d
}

// A flagReader gathers what is wrong with the flags.
type flagReader struct {
	scenario workload.Scenario
	errs     []error
}

func (r *flagReader) add(flag string, err error) {
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("--%s: %w", flag, err))
	}
}

// uses says whether a flag was given, and complains of one that the scenario
// would ignore.
func (r *flagReader) uses(flag string, given bool) bool {
	if given && !slices.Contains(append(r.scenario.Uses, "rounds"), flag) {
		heeded := append([]string{"contenders", "rounds", "duration", "quick"}, r.scenario.Uses...)
		r.add(flag, fmt.Errorf("scenario %s does not heed it: it heeds %s", r.scenario.Name, strings.Join(heeded, ", ")))
		return false
	}
	return given
}

func (r *flagReader) number(flag string, given *int, value *int, least, most int) {
	if !r.uses(flag, given != nil) {
		return
	}
	if *given < least || *given > most {
		r.add(flag, fmt.Errorf("%d: give %d to %d", *given, least, most))
		return
	}
	*value = *given
}

func parseDuration(text, what string, least, most time.Duration) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err != nil || d < least || d > most {
		return 0, fmt.Errorf("%q is no %s: give %v to %v, such as 500ms or 2s", text, what, least, most)
	}
	return d, nil
}

// parseMix reads a mix; the scenarios that hold one size of block take one.
func parseMix(scenario workload.Scenario, text string) (workload.Mix, error) {
	m, err := workload.ParseMix(text)
	if err == nil && len(scenario.Defaults.Mix) == 1 && len(m) > 1 {
		err = fmt.Errorf("%q: scenario %s holds blocks of one size: give one, such as %s", text, scenario.Name, scenario.Defaults.Mix)
	}
	return m, err
}
