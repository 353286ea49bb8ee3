package load

import (
	"time"
)

// glanceEvery is how often it is looked how many sessions are on their way.
const glanceEvery = 10 * time.Millisecond

// watch keeps what each second of the schedule had, reports progress, and ends the run where the scenario says so.
// It returns when done is closed.
func (r *run) watch(done <-chan struct{}) {
	next := max(0, time.Since(r.start)).Truncate(time.Second) + time.Second // since the start
	tick, glance := time.NewTimer(time.Until(r.start.Add(next))), time.NewTicker(glanceEvery)
	defer tick.Stop()
	defer glance.Stop()
	inFlight, glances := 0, 0 // since the last second
	var before Second
	aborts := r.Abort.Watch()
	second := func() (goOn bool) {
		now := time.Since(r.start)
		all := r.now(now)
		next = max(next+time.Second, now.Truncate(time.Second)) // one that was missed is at once
		tick.Reset(time.Until(r.start.Add(next)))
		s := all
		s.InFlightMean = float64(inFlight) / float64(max(1, glances))
		inFlight, glances = 0, 0
		s.Started -= before.Started
		s.Ended -= before.Ended
		s.Failed -= before.Failed
		s.Dropped -= before.Dropped
		before = all
		r.series = append(r.series, s)
		r.report(s, all)
		if r.options.Interval != nil {
			one := r.result()
			r.intervals = append(r.intervals, one)
			one.Series = []Second{s}
			r.options.Interval(one)
		}
		why := aborts(s)
		if why != "" {
			r.aborted.Store(&why)
			r.stop()
		}
		return why == ""
	}
	for {
		select {
		case <-done:
			if time.Since(r.start) >= next { // the last second ends with the run
				second()
			}
			return
		case <-glance.C:
			inFlight += int(r.inFlight.Load())
			glances++
		case <-tick.C:
			if !second() {
				return
			}
		}
	}
}

// now returns the counts since the start, and the times of the sessions that ended since the last
// call.
func (r *run) now(elapsed time.Duration) Second {
	response := timesOf(r.second.Take())
	response.Histogram = nil
	return Second{
		At: elapsed.Seconds(), Started: r.counts.started.Load(), Ended: r.counts.finished.Load(),
		Failed: r.counts.failed.Load(), Dropped: r.counts.dropped.Load(), InFlight: int(r.inFlight.Load()), Response: response,
	}
}

func (r *run) report(s, all Second) {
	if r.options.Progress == nil {
		return
	}
	p := Progress{
		Elapsed: time.Duration(s.At * 1e9), Warmup: s.At < r.Arrivals.Warmup.Seconds()+0.5, Rate: float64(s.Started), InFlight: s.InFlight,
		Worst: time.Duration(s.Response.Max), Failed: all.Failed, Dropped: all.Dropped,
	}
	if s.Response.P99 != nil {
		p.P99 = time.Duration(*s.Response.P99)
	}
	r.options.Progress(p)
}
