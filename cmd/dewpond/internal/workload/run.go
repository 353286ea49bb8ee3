package workload

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/garbage"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// A Job is a round in progress.
type Job struct {
	Spec
	ctx    context.Context
	Fresh  func(contender.Options) contender.Pool // makes a pool; it knows what the spec says of one
	Pool   contender.Pool                         // the current pool
	Result result.Round

	garbage *garbage.Maker // of the measured window
	used    time.Duration  // the processor time of the measured window; 0 if the system does not tell

	recorders map[string]*kit.Recorder // by the key in result.Round.Histograms
}

// Run measures one round of a scenario in this process. If ctx ends early, it returns what was
// measured until then, with Cut set.
func Run(ctx context.Context, scenario Scenario, spec Spec) (result.Round, error) {
	found, err := contender.Find([]string{spec.Contender})
	if err != nil {
		return result.Round{}, err
	}
	if spec.MemoryLimit > 0 {
		defer debug.SetMemoryLimit(debug.SetMemoryLimit(spec.MemoryLimit))
	}
	garbage.Keep(spec.Live)
	j := NewJob(ctx, spec, func(o contender.Options) contender.Pool {
		o.Clearing, o.ZeroDefault, o.IdleTimeout = spec.Clearing, spec.ZeroDefault, spec.IdleTimeout
		if scenario.Bursts {
			o.Room = spec.room()
		}
		if len(spec.Mix) == 1 {
			o.Size = spec.Mix[0].Size
		}
		return found[0].New(o)
	})
	if err := scenario.Drive(j); err != nil {
		return result.Round{}, fmt.Errorf("%s, scenario %s: %w", spec.Contender, spec.Scenario, err)
	}
	r, err := j.finish()
	if err == nil && scenario.Tools && !spec.NoTools && found[0].Tools != nil && !r.Cut {
		r.Tools = compareTools(ctx, found[0].Tools, j.Goroutines, j.Duration)
	}
	return r, err
}

// NewJob returns a round that has made its first pool, with fresh, and measured nothing yet.
func NewJob(ctx context.Context, spec Spec, fresh func(contender.Options) contender.Pool) *Job {
	return &Job{
		Spec: spec, ctx: ctx, Fresh: fresh, Pool: fresh(contender.Options{}),
		Result:    result.Round{Scenario: spec.Scenario, Contender: spec.Contender, Round: spec.Round, Figures: map[string]float64{}},
		recorders: map[string]*kit.Recorder{},
	}
}

// recorder returns a new recorder for one kind of operation.
func (j *Job) recorder(key string) *kit.Recorder {
	r := kit.NewRecorder()
	j.recorders[key] = r
	return r
}

// Measured runs body as the measured window, beside the garbage that was asked for. It records
// what the runtime did meanwhile, without what the garbage did.
func (j *Job) Measured(body func() error) error {
	j.garbage = garbage.Start(j.Garbage)
	window := kit.Open()
	bytes, objects := j.garbage.Made()
	used := kit.CPUTime()
	err := body()
	j.used = kit.CPUTime() - used
	j.garbage.Stop() // before Close, whose collections are not the contender's
	allBytes, allObjects := j.garbage.Made()
	account := window.Close()

	r := &j.Result
	r.Seconds = account.Seconds
	r.GCCycles = account.GCCycles
	r.GCCPUShare = account.GCCPUShare
	r.AllocBytes = less(account.AllocBytes, allBytes-bytes)
	r.Allocs = less(account.Allocs, allObjects-objects)
	return err
}

// less returns a-b, or 0 if b is larger: the garbage is counted at a slightly different moment
// than the rest.
func less(a, b uint64) uint64 { return a - min(a, b) }

// Pause waits for d, and reports whether the round was cut meanwhile.
func (j *Job) Pause(d time.Duration) (cut bool) {
	select {
	case <-j.ctx.Done():
		return true
	case <-time.After(d):
		return false
	}
}

// Cut reports whether the round must end early.
func (j *Job) Cut() bool { return j.ctx.Err() != nil }

func (j *Job) finish() (result.Round, error) {
	r := j.Result
	r.Cut = j.Cut()
	r.RSSPeakBytes = kit.PeakRSS()
	if e, ok := j.Pool.(contender.Enginer); ok {
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
