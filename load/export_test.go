package load

import (
	"context"
	"time"
)

// Prepare makes a run ready, and returns a function that runs one session of it at once.
func Prepare(ctx context.Context, s Scenario, o Options) (once func(number int), end func(), err error) {
	p, err := s.compile()
	if err != nil {
		return nil, nil, err
	}
	r := newRun(p, &o)
	if err := r.prepare(ctx); err != nil {
		return nil, nil, err
	}
	return func(number int) { r.one(ctx, number, time.Now(), true) }, r.close, nil
}
