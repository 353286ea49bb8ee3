package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/rivals"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// The bounds of what flags may ask for.
const (
	mostGoroutines = 100_000
	mostBlocks     = 10_000_000
	mostSample     = 1_000_000
	mostRate       = 10_000_000
	mostLive       = 64 << 30

	leastMemoryLimit = 64 << 20 // below, the collector runs all the time

	leastDuration    = time.Millisecond
	mostDuration     = time.Hour
	leastIdleTimeout = 100 * time.Millisecond // the least that dewpond accepts

	openRate = 50_000 // the default in open mode
)

// A flagReader stores the values of flags in a spec, and collects the errors. It ignores flags
// that were not given, which are nil.
type flagReader struct{ errs []error }

func (r *flagReader) add(flag string, err error) {
	if err != nil {
		r.errs = append(r.errs, fmt.Errorf("--%s: %w", flag, err))
	}
}

// contenders reads names of contenders, and has them in the order of all.
func (r *flagReader) contenders(given []string, names *[]string) {
	if given == nil {
		return
	}
	found, err := contender.Find(given)
	r.add("contenders", err)
	*names = nil
	for _, c := range found {
		*names = append(*names, c.Name)
	}
}

func (r *flagReader) number(flag string, given *int, value *int, least, most int) {
	if given == nil {
		return
	}
	if *given < least || *given > most {
		r.add(flag, fmt.Errorf("%d: give %d to %d", *given, least, most))
		return
	}
	*value = *given
}

func (r *flagReader) duration(flag string, given *string, value *time.Duration, what string, least, most time.Duration) {
	if given == nil {
		return
	}
	d, err := time.ParseDuration(*given)
	if err != nil || d < least || d > most {
		r.add(flag, fmt.Errorf("%q is no %s: give %v to %v, such as 500ms or 2s", *given, what, least, most))
		return
	}
	*value = d
}

func (r *flagReader) bytes(flag string, given *string, value *int64) {
	if given == nil {
		return
	}
	var err error
	*value, err = amount.Parse(*given)
	r.add(flag, err)
}

func (r *flagReader) live(given *string, s *workload.Spec) {
	r.bytes("live", given, &s.Live)
	if s.Live > mostLive {
		r.add("live", fmt.Errorf("%q: give at most 64GiB", *given))
	}
}

func (r *flagReader) rate(given *amount.Rate, s *workload.Spec) {
	if given == nil {
		return
	}
	if !(*given >= 1 && *given <= mostRate) {
		r.add("rate", fmt.Errorf("%v/s: give 1/s to %d/s", *given, mostRate))
	}
	s.Rate = float64(*given)
}

func (r *flagReader) every(given *string, what string, s *workload.Spec) {
	r.duration("every", given, &s.Every, what, leastDuration, mostDuration)
}

func (r *flagReader) idleTimeout(given *string, s *workload.Spec) {
	r.duration("idle-timeout", given, &s.IdleTimeout, "IdleTimeout", leastIdleTimeout, mostDuration)
}

func (r *flagReader) mix(given *string, s *workload.Spec) {
	if given == nil {
		return
	}
	var err error
	s.Mix, err = workload.ParseMix(*given)
	r.add("mix", err)
}

// size is mix for scenarios whose blocks are all of one size.
func (r *flagReader) size(given *string, s *workload.Spec) {
	example := s.Mix
	r.mix(given, s)
	if len(s.Mix) > 1 {
		r.add("mix", fmt.Errorf("%q: scenario %s holds blocks of one size: give one size, such as %s", *given, s.Scenario, example))
	}
}

// defaults returns the defaults of the scenarios' flags, for their help: ${churn_rate} is the
// default of churn's --rate.
func defaults() kong.Vars {
	vars := kong.Vars{
		"enough":    strconv.Itoa(defaultRounds),
		"open_rate": strconv.Itoa(openRate),
		"cells":     strings.Join(cellNames(cells()), ", "),
		"rivals":    strings.Join(contestants(), ", "),
		"most":      figure.Significant(rivals.Most),
		"version":   command.Version("dewpond"),
	}
	for _, scenario := range scenarios() {
		s := scenario.Defaults
		for name, value := range map[string]string{
			"goroutines": strconv.Itoa(s.Goroutines), "mix": s.Mix.String(), "sample": strconv.Itoa(s.Sample),
			"blocks": strconv.Itoa(s.Blocks), "bursts": strconv.Itoa(s.Bursts), "written": amount.Text(s.Written), "collections": strconv.Itoa(s.Collections),
			"garbage": amount.Text(s.Garbage), "live": amount.Text(s.Live), "rate": strconv.FormatFloat(s.Rate, 'f', -1, 64),
			"seeds": strconv.Itoa(s.Seeds), "late": short(s.Late),
			"limit": amount.Text(s.Limit), "times": strconv.FormatFloat(s.Times, 'f', -1, 64), "hold": s.Hold.String(),
			"every": short(s.Every), "idle_timeout": short(s.IdleTimeout),
		} {
			vars[scenario.Name+"_"+name] = value
		}
	}
	return vars
}

// short formats a duration without the zero units at its end: 3m for 3m0s.
func short(d time.Duration) string {
	s := d.String()
	for _, part := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(s, part) {
			s = strings.TrimSuffix(s, part[1:])
		}
	}
	return s
}
