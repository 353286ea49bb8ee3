package load

import (
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/instruments/kit"
)

// A stream records the calls of one step or one protocol, or the sessions. Any number of
// goroutines may record at once.
type stream struct {
	name                            string
	response, service, lag, waiting *kit.Recorder
	failing                         *kit.Recorder // the response of what failed, apart
	ended, failed, waits            atomic.Uint64
	answers                         answers
}

func newStream(name string) *stream {
	return &stream{
		name: name, response: kit.NewRecorder(), service: kit.NewRecorder(), lag: kit.NewRecorder(),
		waiting: kit.NewRecorder(), failing: kit.NewRecorder(),
	}
}

// timing is what one call took.
type timing struct {
	response, service, lag, waiting time.Duration
}

func (s *stream) record(who int, t timing, err error) {
	if t.waiting > 0 {
		s.waits.Add(1)
	}
	if err != nil {
		s.failed.Add(1)
		s.failing.Record(who, t.response)
		return
	}
	s.ended.Add(1)
	s.response.Record(who, t.response)
	s.service.Record(who, t.service)
	s.lag.Record(who, t.lag)
	s.waiting.Record(who, t.waiting)
}

// A taking is what was recorded in a while.
type taking struct {
	name                                     string
	ended, failed, waits                     uint64
	statuses                                 map[string]uint64
	sent, received                           uint64
	response, service, lag, waiting, failing *hdrhistogram.Histogram
}

// take returns what was recorded since the last call.
func (s *stream) take() taking {
	return taking{
		name: s.name, ended: s.ended.Swap(0), failed: s.failed.Swap(0), waits: s.waits.Swap(0),
		response: s.response.Take(), service: s.service.Take(), lag: s.lag.Take(),
		waiting: s.waiting.Take(), failing: s.failing.Take(),
		statuses: s.answers.take(), sent: s.answers.sent.Swap(0), received: s.answers.received.Swap(0),
	}
}

// part finds the percentiles and encodes the histograms, which takes far longer than to take them.
func (t taking) part() Part {
	p := Part{
		Name: t.name, Requests: t.ended + t.failed, Failed: t.failed, Waited: t.waits,
		Response: timesOf(t.response), Service: timesOf(t.service), Lag: timesOf(t.lag),
		Waiting: timesOf(t.waiting), FailedResponse: timesOf(t.failing),
		Statuses: t.statuses, Sent: t.sent, Received: t.received,
	}
	p.Generator = generatorMade(p.Response, p.Lag)
	return p
}

func (s *stream) part() Part { return s.take().part() }
