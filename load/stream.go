package load

import (
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/measure"
)

// A stream records the calls of one step or one protocol, or the sessions. Any number of
// goroutines may record at once.
type stream struct {
	name                            string
	response, service, lag, waiting *measure.Recorder
	failing                         *measure.Recorder // the response of what failed, apart
	ended, failed, waits            atomic.Uint64
}

func newStream(name string) *stream {
	return &stream{
		name: name, response: measure.NewRecorder(), service: measure.NewRecorder(), lag: measure.NewRecorder(),
		waiting: measure.NewRecorder(), failing: measure.NewRecorder(),
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

// part returns what was recorded since the last call.
func (s *stream) part() Part {
	failed := s.failed.Swap(0)
	p := Part{
		Name: s.name, Requests: s.ended.Swap(0) + failed, Failed: failed, Waited: s.waits.Swap(0),
		Response: timesOf(s.response.Take()), Service: timesOf(s.service.Take()), Lag: timesOf(s.lag.Take()),
		Waiting: timesOf(s.waiting.Take()), FailedResponse: timesOf(s.failing.Take()),
	}
	p.Generator = generatorMade(p.Response, p.Lag)
	return p
}
