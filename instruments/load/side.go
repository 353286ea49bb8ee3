package load

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/target"
)

// An Attribution is how much of the slowest requests coincides with something that the target did.
// It is not what would be gained without that.
type Attribution struct {
	Beyond   string  `json:"beyond"` // the percentile, such as p99_ns, of the requests in the trace
	Cause    string  `json:"cause"`
	Requests int     `json:"requests"` // beyond it
	Observed float64 `json:"observed"` // the share of them that overlaps the cause
	Chance   float64 `json:"chance"`   // the share that would, were the cause at any other time
	// Explained is beyond chance; Low and High are its 95 % interval.
	Explained float64 `json:"explained"`
	Low       float64 `json:"low"`
	High      float64 `json:"high"`
	// CannotTell says why there is no answer.
	CannotTell string `json:"cannot_tell,omitempty"`
}

// A Metric is a metric of the target over time.
type Metric struct {
	Name string `json:"name"` // such as heap bytes
	Rate bool   `json:"rate"` // of a counter: how much it grew a second
	// At is in seconds since the first session was due, warm-up included.
	At     []float64 `json:"at"`
	Values []float64 `json:"values"` // one for each At
}

const collector = "collector"

// longestTrace is how many seconds of a run are traced.
const longestTrace = 10

// A side is the target's own side of a run.
type side struct {
	client   *http.Client
	scraper  *target.Scraper
	seconds  int // that are traced; 0 is none
	captured target.Captured

	stop    context.CancelFunc
	running sync.WaitGroup
}

// openSide looks whether what is asked for is there.
func openSide(ctx context.Context, r *run) (*side, error) {
	o := r.options
	s := &side{client: &http.Client{Transport: &http.Transport{DialContext: o.dial(), TLSClientConfig: o.tls()}}}
	if o.Metrics != "" {
		opening, cancel := context.WithTimeout(ctx, connectTimeout)
		defer cancel()
		var err error
		if s.scraper, err = target.NewScraper(opening, s.client, o.Metrics); err != nil {
			return s, err
		}
	}
	if o.Capture != "" {
		if err := os.MkdirAll(o.Capture, 0o755); err != nil {
			return s, err
		}
	}
	if o.Pprof != "" {
		s.seconds = min(longestTrace, max(1, int(r.Arrivals.Length()/(2*time.Second))))
		r.spans = &spans{}
	}
	return s, nil
}

// begin starts to look. The run has begun.
func (s *side) begin(ctx context.Context, r *run) {
	if s.scraper != nil {
		ctx, stop := context.WithCancel(ctx)
		s.stop = stop
		s.running.Go(func() {
			tick := time.NewTicker(time.Second)
			defer tick.Stop()
			for {
				scraping, cancel := context.WithTimeout(ctx, time.Second)
				s.scraper.Scrape(scraping)
				cancel()
				select {
				case <-tick.C:
				case <-ctx.Done():
					return
				}
			}
		})
	}
	if s.seconds > 0 {
		middle := r.start.Add(r.Arrivals.Warmup + r.Arrivals.Length()/2)
		s.running.Go(func() {
			if sleepUntil(ctx, middle.Add(-time.Duration(s.seconds)*time.Second/2)) {
				ctx, cancel := context.WithTimeout(ctx, time.Duration(s.seconds)*time.Second+connectTimeout)
				defer cancel()
				s.captured = target.Capture(ctx, s.client, r.options.Pprof, s.seconds, r.options.Capture)
			} else {
				s.captured.Err = ctx.Err()
			}
		})
	}
}

// end stops to look. It waits for a trace that is still on its way.
func (s *side) end() {
	if s.stop != nil {
		s.stop()
	}
	s.running.Wait()
	if s.client != nil {
		s.client.CloseIdleConnections()
	}
}

// report fills in what was seen.
func (s *side) report(r *run, out *Result) {
	out.Slowest = r.slowest.split()
	if s.scraper != nil {
		for _, m := range s.scraper.Series(r.start) {
			out.Metrics = append(out.Metrics, Metric(m))
		}
		if n, err := s.scraper.Failed(); n > 0 {
			out.Target.Notes = append(out.Target.Notes, fmt.Sprintf("metrics could not be read %d times, such as: %v", n, err))
		}
	}
	if s.seconds == 0 {
		return
	}
	for _, f := range s.captured.Files {
		out.Target.Notes = append(out.Target.Notes, "captured: "+f)
	}
	cannot := ""
	switch {
	case s.captured.Phases == nil:
		cannot = fmt.Sprintf("there is no trace: %v", s.captured.Err)
	case !out.Target.Shared:
		cannot = "the target is on another machine, whose clock is not known to 1 ms"
	}
	if cannot != "" {
		out.Attribution = []Attribution{{Beyond: "p99_ns", Cause: collector, CannotTell: cannot}}
		return
	}
	if s.captured.Err != nil {
		out.Target.Notes = append(out.Target.Notes, fmt.Sprintf("there is no profile: %v", s.captured.Err))
	}
	if cut := s.captured.Phases.Cut; cut != "" {
		out.Target.Notes = append(out.Target.Notes, "the trace was not read to its end: "+cut)
	}
	out.Attribution = r.spans.attribute(s.captured.Phases)
}

// A span is when a request was on its way.
type span struct {
	began, end time.Time
	response   time.Duration
}

// spans are those of a run. A nil value keeps none.
type spans struct {
	shards [16]struct {
		mu    sync.Mutex
		spans []span
	}
}

func (s *spans) add(who int, one span) {
	if s == nil {
		return
	}
	shard := &s.shards[uint(who)%uint(len(s.shards))]
	shard.mu.Lock()
	defer shard.mu.Unlock()
	shard.spans = append(shard.spans, one)
}

// attribute says for each percentile how much of what lies beyond it coincides with the collector.
func (s *spans) attribute(p *target.Phases) []Attribution {
	var within []span
	for i := range s.shards {
		for _, one := range s.shards[i].spans {
			if _, in := p.Interval(one.began, one.end); in {
				within = append(within, one)
			}
		}
	}
	slices.SortFunc(within, func(a, b span) int { return int(b.response - a.response) })
	var out []Attribution
	for _, q := range percentiles {
		if q.p < 99 || int64(len(within)) < q.needs && q.key != "p99" {
			continue
		}
		n := int(float64(len(within))*(100-q.p)/100 + 0.5)
		var slow []target.Interval
		for _, one := range within[:n] {
			v, _ := p.Interval(one.began, one.end)
			slow = append(slow, v)
		}
		e := target.Explain(slow, p.Collector(), p.Window)
		out = append(out, Attribution{
			Beyond: q.key + "_ns", Cause: collector, Requests: e.Requests, Observed: e.Observed, Chance: e.Chance,
			Explained: e.Explained, Low: e.Low, High: e.High, CannotTell: e.CannotTell,
		})
	}
	return out
}
