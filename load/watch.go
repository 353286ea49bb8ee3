package load

import (
	"fmt"
	"time"
)

// glanceEvery is how often it is looked how many sessions are on their way.
const glanceEvery = 10 * time.Millisecond

// watch keeps what each second had, reports progress, and ends the run where the scenario says so.
// It returns when done is closed.
func (r *run) watch(done <-chan struct{}) {
	tick, glance := time.NewTicker(time.Second), time.NewTicker(glanceEvery)
	defer tick.Stop()
	defer glance.Stop()
	inFlight, glances := 0, 0 // since the last second
	var before Second
	bad := time.Duration(0) // for how long too many sessions have failed
	for {
		select {
		case <-done:
			return
		case <-glance.C:
			inFlight += int(r.inFlight.Load())
			glances++
		case now := <-tick.C:
			all := r.now(now.Sub(r.start))
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
				one.Series = nil
				r.intervals = append(r.intervals, one)
				r.options.Interval(one)
			}
			if ended := s.Ended + s.Failed; r.Abort.over > 0 && ended > 0 && shareOf(s.Failed, ended) > r.Abort.share {
				bad += time.Second
			} else {
				bad = 0
			}
			if r.Abort.over > 0 && bad >= r.Abort.over {
				why := fmt.Sprintf("%s: %.1f %% of the last second's", r.Abort.text, 100*shareOf(s.Failed, s.Ended+s.Failed))
				r.aborted.Store(&why)
				r.stop()
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
		Elapsed: time.Duration(s.At * 1e9), Rate: float64(s.Started), InFlight: s.InFlight,
		Worst: time.Duration(s.Response.Max), Failed: all.Failed, Dropped: all.Dropped,
	}
	if s.Response.P99 != nil {
		p.P99 = time.Duration(*s.Response.P99)
	}
	r.options.Progress(p)
}
