package load

import (
	"context"
	"time"
)

// RunLate is Run with a generator that waits for arrivals by sleep.
func RunLate(ctx context.Context, s Scenario, o Options, sleep func(time.Duration)) (Result, error) {
	p, err := s.compile()
	if err != nil {
		return Result{}, err
	}
	r := newRun(p, &o)
	r.pacer = func() (pacer, func()) { return pacer{sleep}, func() {} }
	return r.all(ctx)
}

// A Ready is a run whose sessions the caller begins.
type Ready struct {
	*run
	ctx context.Context
}

// Prepare makes a run ready.
func Prepare(ctx context.Context, s Scenario, o Options) (Ready, error) {
	p, err := s.compile()
	if err != nil {
		return Ready{}, err
	}
	r := newRun(p, &o)
	return Ready{r, ctx}, r.prepare(ctx)
}

// Once runs one session at once.
func (r Ready) Once(number int) { r.one(r.ctx, number, time.Now(), true) }

// Take returns what was recorded since the last Take.
func (r Ready) Take() Result { return r.result() }

// End closes the connections.
func (r Ready) End() { r.close() }
