package load

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/instruments/internal/rates"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// A StagePart is the sessions that were due in one stage of the arrivals, whenever they ended. A step,
// which takes no time, has none.
type StagePart struct {
	Name    string  `json:"name"`
	At      float64 `json:"at"`      // its beginning, in seconds since the first session was due, warm-up included
	Seconds float64 `json:"seconds"` // how long it takes
	From    float64 `json:"from"`    // sessions a second at its beginning
	To      float64 `json:"to"`      // sessions a second at its end

	Finished uint64 `json:"finished"`
	Failed   uint64 `json:"failed"`
	Dropped  uint64 `json:"dropped"`
	// Late is how many of them the generator began, or dropped, after the stage's end and more than
	// 100 ms after they were due.
	Late uint64 `json:"late"`
	// Response is from due to done, and Lag from due to begun. What failed is in FailedResponse alone.
	Response       *Times `json:"response"`
	Lag            *Times `json:"lag"`
	FailedResponse *Times `json:"failed_response"`
}

// Offered is how many sessions were due in it, but for those that were cut, and that agents did not make
// or tell of.
func (s *StagePart) Offered() uint64 { return s.Finished + s.Failed + s.Dropped }

// Text says what the rate does, as in "200/s to 800/s".
func (s *StagePart) Text() string { return slope{low: s.From, high: s.To}.text() }

// named is its name as sentences have it.
func (s *StagePart) named() string {
	if strings.HasPrefix(s.Name, "stage ") {
		return s.Name
	}
	return fmt.Sprintf("the stage %q", s.Name)
}

// A staged records the sessions of one stage.
type staged struct {
	slope
	finished, failed, dropped, late atomic.Uint64
	response, lag, failing          *kit.Recorder
}

func stagedOf(a Arrivals) []*staged {
	var out []*staged
	for _, s := range a.course().stages() {
		out = append(out, &staged{slope: s, response: kit.NewRecorder(), lag: kit.NewRecorder(), failing: kit.NewRecorder()})
	}
	return out
}

// stage returns the stage in which a session is due, or nil in the warm-up, and where there are none.
func (r *run) stage(due time.Time) *staged {
	at := due.Sub(r.start)
	for _, s := range r.stages {
		if at >= s.from && at < s.to {
			return s
		}
	}
	return nil
}

// begin takes note of when a session is begun, or dropped.
func (s *staged) begin(start, due time.Time) {
	if s != nil && float64(time.Since(due)) > grossLag && time.Since(start) >= s.to {
		s.late.Add(1)
	}
}

func (s *staged) record(who int, t timing, err error) {
	switch {
	case s == nil:
	case err != nil:
		s.failed.Add(1)
		s.failing.Record(who, t.response)
	default:
		s.finished.Add(1)
		s.response.Record(who, t.response)
		s.lag.Record(who, t.lag)
	}
}

// A stageTaking is what a stage has had in a while.
type stageTaking struct {
	StagePart
	response, lag, failing *hdrhistogram.Histogram
}

// takeStages returns what the stages have had since the last call. A stage that had nothing is left out
// of an interval. The caller holds the lock of the sessions' ends.
func (r *run) takeStages() []stageTaking {
	var out []stageTaking
	for _, s := range r.stages {
		p := StagePart{
			Name: s.name, At: s.from.Seconds(), Seconds: s.seconds(), From: s.low, To: s.high,
			Finished: s.finished.Swap(0), Failed: s.failed.Swap(0), Dropped: s.dropped.Swap(0), Late: s.late.Swap(0),
		}
		if r.over || p.Offered()+p.Late > 0 {
			out = append(out, stageTaking{p, s.response.Take(), s.lag.Take(), s.failing.Take()})
		}
	}
	return out
}

func (t stageTaking) part() StagePart {
	p := t.StagePart
	p.Response, p.Lag, p.FailedResponse = timesOf(t.response), timesOf(t.lag), timesOf(t.failing)
	return p
}

// mergeStages adds up the stages of results, in the order of time.
func mergeStages(results []Result) []StagePart {
	type sums struct {
		StagePart
		response, lag, failing *sum
	}
	var order []*sums
	by := map[string]*sums{}
	for i := range results {
		for _, p := range results[i].Stages {
			s := by[p.Name]
			if s == nil {
				s = &sums{StagePart{Name: p.Name, At: p.At, Seconds: p.Seconds, From: p.From, To: p.To}, newSum(), newSum(), newSum()}
				by[p.Name] = s
				order = append(order, s)
			}
			s.Finished += p.Finished
			s.Failed += p.Failed
			s.Dropped += p.Dropped
			s.Late += p.Late
			s.response.add(p.Response)
			s.lag.add(p.Lag)
			s.failing.add(p.FailedResponse)
		}
	}
	slices.SortStableFunc(order, func(a, b *sums) int { return cmp.Compare(a.At, b.At) })
	var out []StagePart
	for _, s := range order {
		s.Response, s.Lag, s.FailedResponse = s.response.times(), s.lag.times(), s.failing.times()
		out = append(out, s.StagePart)
	}
	return out
}

// mostLate is the share of a stage's sessions that may be late before the generator has made its figures.
const mostLate = 0.01

// judgeStages says which stages the generator spoiled, and in which the target takes less than was
// offered. The figures of the whole hide both.
func (r *Result) judgeStages() {
	worst := mostDropped
	for i := range r.Stages {
		s := &r.Stages[i]
		offered := float64(s.Offered())
		const advice = "spread the load over more --agents, or ask for less"
		switch lag, response := s.Lag.P99, s.Response.P99; {
		case float64(s.Late) > mostLate*offered:
			r.Why = append(r.Why, fmt.Sprintf("the generator reached %s of %s in %s, and was late with %d sessions until after its end: %s",
				rates.Text((offered-float64(s.Late))/s.Seconds), rates.Text(offered/s.Seconds), s.named(), s.Late, advice))
		case lag != nil && response != nil && *lag > mostLag**response:
			r.Why = append(r.Why, fmt.Sprintf("in %s a lag of %s is more than half of the P99: the generator made it: %s", s.named(), figure.Duration(*lag), advice))
		case float64(s.Dropped) > worst*offered && r.generatorLate() == 0:
			worst = float64(s.Dropped) / offered
			r.Overload = fmt.Sprintf("takes %s of %s in %s: in_flight filled", rates.Text(float64(s.Finished)/s.Seconds), rates.Text(offered/s.Seconds), s.named())
		}
	}
}
