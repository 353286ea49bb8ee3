package load

import (
	"context"
	"sync"
	"time"
)

// steps does one step after the other, and returns when the last one ended. The next is due when
// the one before has ended, plus the thinking.
func (s *Session) steps(ctx context.Context) (end time.Time, err error) {
	due := s.intended
	for i := range s.run.steps {
		step := &s.run.steps[i]
		if step.When != "" && !s.has(step.When) || step.Unless != "" && s.has(step.Unless) {
			continue
		}
		if step.caller == nil {
			d := step.think.draw(s)
			s.thought += d
			due = due.Add(d)
			if !sleepUntil(ctx, due) {
				return time.Now(), ctx.Err()
			}
			continue
		}
		if due, err = s.step(ctx, step, s.run.streams[i], due); err != nil {
			return due, err
		}
	}
	return due, nil
}

// step makes the calls of a step, and returns when the last one ended.
func (s *Session) step(ctx context.Context, step *planned, stream *stream, due time.Time) (time.Time, error) {
	if step.Each == nil {
		return s.call(ctx, step, stream, due, named{})
	}
	v, _ := s.Value(step.Each.List)
	list, ok := v.([]any)
	if !ok {
		list = nil
		if there(v) {
			list = []any{v}
		}
	}
	if n := step.Each.First; n > 0 && n < len(list) {
		list = list[:n]
	}
	if step.Each.Parallel {
		return s.parallel(ctx, step, stream, due, list)
	}
	for _, e := range list {
		var err error
		if due, err = s.call(ctx, step, stream, due, named{step.Each.Item, e}); err != nil {
			return due, err
		}
	}
	return due, nil
}

func (s *Session) parallel(ctx context.Context, step *planned, stream *stream, due time.Time, list []any) (time.Time, error) {
	ends, errs := make([]time.Time, len(list)), make([]error, len(list))
	var wg sync.WaitGroup
	for i, e := range list {
		wg.Go(func() { ends[i], errs[i] = s.call(ctx, step, stream, due, named{step.Each.Item, e}) })
	}
	wg.Wait()
	last, err := due, error(nil)
	for i, end := range ends {
		if end.After(last) {
			last = end
		}
		if err == nil {
			err = errs[i]
		}
	}
	return last, err
}

// call makes one call, and again what Retry says.
func (s *Session) call(ctx context.Context, step *planned, stream *stream, due time.Time, item named) (time.Time, error) {
	for attempt := 0; ; attempt++ {
		end, absent, err := s.once(ctx, step, stream, due, item)
		if err != nil || !absent || attempt == step.Retry.Times {
			return end, err
		}
		due = end.Add(step.Retry.Wait)
		s.thought += step.Retry.Wait
		if !sleepUntil(ctx, due) {
			return time.Now(), ctx.Err()
		}
	}
}

func (s *Session) once(ctx context.Context, step *planned, stream *stream, due time.Time, item named) (end time.Time, absent bool, err error) {
	r := s.run
	c := &Call{Session: s, item: item, intended: due, began: time.Now()}
	if _, own := step.caller.(*request); own { // it sees to its deadline itself, which takes less
		err = step.call(ctx, c)
	} else {
		calling, cancel := context.WithTimeout(ctx, r.Limits.Timeout)
		err = step.call(calling, c)
		cancel()
	}
	end = time.Now()
	if s.measured && (err == nil || ctx.Err() == nil) {
		t := timing{response: end.Sub(due), lag: c.began.Sub(due), waiting: c.waited}
		t.service = t.response - t.lag - t.waiting
		stream.record(s.Number, t, err)
		stream.answers.add(c)
		if err == nil {
			r.slowest.add(slowCall{t, c.connecting, c.phases})
			r.spans.add(s.Number, span{c.began, end, t.response})
		}
		if p := r.spoken[c.protocol]; p != nil {
			p.record(s.Number, t, err)
			p.answers.add(c)
		}
		if err != nil {
			r.fail(c, step, err)
		}
		r.requests.write(c, step.Name, end, t, err)
	}
	return end, c.absent, err
}

// pool returns the connections that the session's requests are made on.
func (c *Call) pool() *pool {
	if p := c.run.pools[c.Protocol]; p != nil {
		return p
	}
	return c.own
}

// sleepUntil reports false if ctx ends before.
func sleepUntil(ctx context.Context, t time.Time) bool {
	timer := time.NewTimer(time.Until(t))
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
