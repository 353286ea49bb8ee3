// Package knee finds the highest rate that a service holds: rates grow by half until one does not
// hold, and then the interval is halved.
package knee

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/rates"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/queueing"
)

// What a rate must keep to hold, beside the SLO.
const (
	mostErrors    = 0.001 // of the sessions
	leastAchieved = 0.99  // of the sessions offered
	littleWithin  = 0.25  // of what Little's law says
	growth        = 1.5   // from one rate to the next
	precision     = 0.05  // of the rate that is found
	repeats       = 3     // of the rate that is found
	slack         = 3     // times the P99 of the lowest rate, where there is no SLO
	mostRate      = 1e6
	leastSamples  = 1200 // sessions for each rate, so that there is a P99
)

// Options are how the knee is looked for.
type Options struct {
	SLO  *load.Threshold     // nil: three times the P99 of the lowest rate
	From float64             // the lowest rate
	Each time.Duration       // of each rate, at least
	Show func(load.Scenario) // told before each rate, if it is not nil
	Run  func(context.Context, load.Scenario) (load.Result, error)
}

// Find finds the highest rate that holds, and returns the last result of that rate, or of the
// lowest where none holds, with its Knee. If it ends early the Knee has the rates that were tried,
// and is nil if there are none.
func Find(ctx context.Context, s load.Scenario, o Options) (load.Result, error) {
	f := finder{ctx: ctx, scenario: s, o: o, results: map[float64]load.Result{}}
	if o.SLO != nil {
		f.found.SLO = o.SLO.String()
	}
	if err := f.search(); err != nil {
		best := load.KneeRate{}
		for _, r := range f.found.Rows {
			if r.Holds && r.Rate >= best.Rate {
				best = r
			}
		}
		f.found.Holds, f.found.Sentence = best.Rate, "The search did not end."
		return f.result(), err
	}
	return f.result(), nil
}

type finder struct {
	ctx      context.Context
	scenario load.Scenario
	o        Options
	found    load.Knee
	results  map[float64]load.Result // the last one of each rate
}

// result returns that of the rate that was found, or of the lowest.
func (f *finder) result() load.Result {
	if len(f.found.Rows) == 0 {
		return load.Result{}
	}
	rate := f.found.Holds
	if rate == 0 {
		rate = f.found.Rows[0].Rate
	}
	r := f.results[rate]
	r.Knee = &f.found
	return r
}

func (f *finder) search() error {
	low, high := load.KneeRate{}, load.KneeRate{} // the highest that holds, and the lowest that does not
	for rate := f.o.From; rate <= mostRate; rate *= growth {
		row, err := f.try(rate)
		if err != nil {
			return err
		}
		if !row.Holds {
			high = row
			break
		}
		low = row
	}
	if low.Rate == 0 {
		f.conclude(low, high)
		return nil
	}
	low, high, err := f.halve(low, high)
	if err != nil {
		return err
	}
	for low.Rate > 0 {
		held, failed, err := f.again(low.Rate)
		if err != nil {
			return err
		}
		if held {
			break
		}
		// It was lucky when it held. So may the lower ones have been that were run once.
		high, low.Rate = failed, low.Rate/(1+precision)
		if low.Rate < f.o.From {
			low.Rate = 0
		}
	}
	f.conclude(low, high)
	return nil
}

// halve halves the interval between a rate that holds and one that does not.
func (f *finder) halve(low, high load.KneeRate) (load.KneeRate, load.KneeRate, error) {
	for high.Rate > 0 && !high.Generator && high.Rate-low.Rate > precision*low.Rate {
		row, err := f.try((low.Rate + high.Rate) / 2)
		if err != nil {
			return low, high, err
		}
		if row.Holds {
			low = row
		} else {
			high = row
		}
	}
	return low, high, nil
}

// again runs a rate three times more, and reports whether it held in most of them. If it did not, it
// ends when that is known, and returns a row of when it did not.
func (f *finder) again(rate float64) (held bool, failed load.KneeRate, err error) {
	fails := 0
	for range repeats {
		row, err := f.try(rate)
		if err != nil {
			return false, failed, err
		}
		if !row.Holds {
			failed = row
			fails++
		}
		if 2*fails > repeats {
			return false, failed, nil
		}
	}
	return true, failed, nil
}

// try runs one rate.
func (f *finder) try(rate float64) (load.KneeRate, error) {
	s := f.scenario
	s.Arrivals.Rate = rate
	s.Arrivals.Duration = max(f.o.Each, time.Duration(leastSamples/rate*1e9))
	s.Arrivals.Seed += uint64(len(f.found.Rows)) // each its own arrivals
	s.Thresholds, s.Abort = nil, load.Abort{}
	if f.o.SLO != nil {
		s.Thresholds = []load.Threshold{*f.o.SLO}
	}
	if f.o.Show != nil {
		f.o.Show(s)
	}
	r, err := f.o.Run(f.ctx, s)
	if err != nil {
		return load.KneeRate{}, err
	}
	if r.Interrupted {
		return load.KneeRate{}, load.ErrInterrupted
	}
	if f.o.SLO == nil {
		if r.Session.Response.P99 == nil {
			return load.KneeRate{}, errors.New("the lowest rate has no P99: too few sessions finished")
		}
		limit := time.Duration(slack * *r.Session.Response.P99).Round(time.Microsecond)
		slo, err := load.ParseThreshold("session p99 < " + limit.String())
		if err != nil {
			return load.KneeRate{}, err
		}
		f.o.SLO, f.found.SLO = &slo, slo.String()+" (three times that of the lowest rate)"
	}
	row := judge(r, rate, s.Arrivals)
	f.found.Rows = append(f.found.Rows, row)
	f.results[rate] = r
	return row, nil
}

// judge makes the row of a result.
func judge(r load.Result, rate float64, a load.Arrivals) load.KneeRate {
	row := load.KneeRate{Rate: rate, P50: r.Session.Response.P50, P99: r.Session.Response.P99, P999: r.Session.Response.P999}
	var levels []float64
	// What finishes when no more begin does not count as achieved. Those of the warm-up that finish
	// later do, so it is what began less what has piled up.
	finished := 0
	before := 0 // in flight when the warm-up ended
	for _, s := range r.Series {
		switch at := s.At - a.Warmup.Seconds(); {
		case at <= 0.5:
			before = s.InFlight
		case at < a.Duration.Seconds()+0.5:
			levels = append(levels, s.InFlightMean)
			row.InFlight += s.InFlightMean
			finished += int(s.Started) - int(s.Failed) - (s.InFlight - before)
			before = s.InFlight
		}
	}
	row.InFlight /= float64(max(1, len(levels)))
	switch {
	case len(levels) > 0:
		row.Achieved = max(0, float64(finished)/float64(len(levels)))
	case r.Seconds > 0:
		row.Achieved = float64(r.Finished) / r.Seconds
	}
	response := time.Duration(meanOfAll(r.Session))
	row.Little = len(levels) == 0 || queueing.Little(row.InFlight, float64(r.Started)/r.Seconds, response, littleWithin)
	var why []string
	if !r.Valid {
		row.Generator = true
		why = append(why, r.Why...)
	}
	if r.Overload != "" {
		why = append(why, r.Overload)
	}
	for _, v := range r.Thresholds {
		if !v.OK {
			why = append(why, strings.Fields(v.Text)[1]+" "+v.Shown)
		}
	}
	if share := float64(r.Failed) / float64(max(1, r.Started)); share >= mostErrors {
		why = append(why, figure.Percent(share)+" errors")
	}
	if share := float64(r.Finished) / float64(max(1, r.Offered)); share < leastAchieved && r.Overload == "" {
		why = append(why, figure.Percent(share)+" achieved")
	}
	if rise := rise(levels); rise > max(2, row.InFlight) {
		why = append(why, fmt.Sprintf("the backlog grows by %s", figure.Count(rise)))
	}
	row.Why = strings.Join(why, ", ")
	row.Holds = len(why) == 0
	return row
}

// meanOfAll returns the mean response of what finished and what failed.
func meanOfAll(p load.Part) float64 {
	ended, failed := float64(p.Response.Samples), float64(p.FailedResponse.Samples)
	return (p.Response.Mean*ended + p.FailedResponse.Mean*failed) / max(1, ended+failed)
}

// rise returns how much a line through the levels rises from the first to the last.
func rise(levels []float64) float64 {
	n := float64(len(levels))
	if n < 3 {
		return 0
	}
	var x, y, xy, xx float64
	for i, level := range levels {
		x += float64(i)
		y += level
		xy += float64(i) * level
		xx += float64(i) * float64(i)
	}
	return (n*xy - x*y) / (n*xx - x*x) * (n - 1)
}

// conclude writes the sentence.
func (f *finder) conclude(low, high load.KneeRate) {
	f.found.Holds, f.found.Fails, f.found.Generator = low.Rate, high.Rate, high.Generator
	switch {
	case low.Rate == 0 && high.Generator:
		f.found.Sentence = fmt.Sprintf("Nothing is known of the target: at the lowest rate, %s, the generator is at fault: %s.", rates.Text(high.Rate), high.Why)
	case low.Rate == 0:
		f.found.Sentence = fmt.Sprintf("Not met at the lowest rate, %s: %s.", rates.Text(high.Rate), high.Why)
	case high.Rate == 0:
		f.found.Sentence = fmt.Sprintf("At least %s: no rate above %s is tried.", rates.Text(low.Rate), rates.Text(mostRate))
	case high.Generator:
		f.found.Sentence = fmt.Sprintf("At least %s: the generator is the limit.", rates.Text(low.Rate))
	default:
		f.found.Sentence = fmt.Sprintf("%s holds, %s does not: %s.", rates.Text(low.Rate), rates.Text(high.Rate), high.Why)
	}
}
