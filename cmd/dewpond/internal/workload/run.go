package workload

import (
	"context"
	"fmt"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/internal/measure"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// A job is a round at work.
type job struct {
	Spec
	ctx   context.Context
	fresh func(*dewpond.Budget) contender.Pool // makes a pool
	pool  contender.Pool                       // the one at work
	round result.Round

	garbage *litter // of the measured window

	recorders map[string]*measure.Recorder // by their key in result.Round.Histograms
}

// Run measures one round in this process. When ctx ends early the round is what
// was measured until then, with Cut set.
func Run(ctx context.Context, spec Spec) (result.Round, error) {
	scenario, err := Find(spec.Scenario)
	if err != nil {
		return result.Round{}, err
	}
	found, err := contender.Find([]string{spec.Contender})
	if err != nil {
		return result.Round{}, err
	}
	j := &job{
		Spec: spec,
		ctx:  ctx,
		fresh: func(budget *dewpond.Budget) contender.Pool {
			return found[0].New(contender.Options{Clearing: scenario.Clearing, IdleTimeout: spec.IdleTimeout, Budget: budget})
		},
		round:     result.Round{Contender: spec.Contender, Round: spec.Round, Figures: map[string]float64{}},
		recorders: map[string]*measure.Recorder{},
	}
	live = make([]byte, spec.Live)
	j.pool = j.fresh(nil)
	if err := scenario.run(j); err != nil {
		return result.Round{}, fmt.Errorf("%s, scenario %s: %w", spec.Contender, spec.Scenario, err)
	}
	r, err := j.finish()
	if err == nil && scenario.Tools && found[0].Tools != nil && !r.Cut {
		r.Tools = compareTools(ctx, found[0].Tools, j.Goroutines, j.Duration)
	}
	return r, err
}

// recorder makes the recorder of one kind of operation.
func (j *job) recorder(key string) *measure.Recorder {
	r := measure.NewRecorder()
	j.recorders[key] = r
	return r
}

// measured runs body as the measured window, with the asked-for garbage beside
// it, and accounts for what the runtime did meanwhile without the garbage.
func (j *job) measured(body func() error) error {
	j.garbage = startLitter(j.Garbage)
	window := measure.Open()
	before := j.garbage.bytes()
	err := body()
	j.garbage.stop() // before the collections of Close, which it would litter
	littered := j.garbage.bytes() - before
	account := window.Close()

	r := &j.round
	r.Seconds = account.Seconds
	r.GCCycles = account.GCCycles
	r.GCCPUShare = account.GCCPUShare
	r.AllocBytes = less(account.AllocBytes, littered)
	r.Allocs = less(account.Allocs, littered/bytesOfPiece*objectsOfPiece)
	return err
}

// less is a-b, or 0 where b is more: the garbage is counted at a slightly
// different moment than the rest.
func less(a, b uint64) uint64 { return a - min(a, b) }

// pause waits, and reports whether the round was cut meanwhile.
func (j *job) pause(d time.Duration) (cut bool) {
	select {
	case <-j.ctx.Done():
		return true
	case <-time.After(d):
		return false
	}
}

func (j *job) cut() bool { return j.ctx.Err() != nil }

func (j *job) finish() (result.Round, error) {
	r := j.round
	r.Cut = j.cut()
	r.RSSPeakBytes = measure.PeakRSS()
	if e, ok := j.pool.(contender.Enginer); ok {
		r.Engine = e.Engine()
	}
	r.Histograms = map[string][]byte{}
	for key, rec := range j.recorders {
		blob, err := rec.Encode()
		if err != nil {
			return r, err
		}
		r.Histograms[key] = blob
		r.RecorderBytes += rec.Bytes()
		if n := rec.OutOfRange(); n > 0 {
			r.Figures[key+"_out_of_range"] = float64(n)
		}
	}
	return r, nil
}
