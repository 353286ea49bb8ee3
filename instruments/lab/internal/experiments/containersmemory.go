package experiments

import (
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/lab/internal/cgroup"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// The pools of unbounded run in a control group of memory, with GOMEMLIMIT at nine tenths of it as a container
// has it, and their case is the pool's with this behind it.
const (
	inMemory    = " in 96 MiB"
	memoryLimit = 96 << 20
)

// Two of the pools.
const (
	unbound  = "no bound"
	budgeted = "dewpond with a Budget"
)

// ofMemory has a child run a burst in a group, and asks the kernel whether it was killed. A test makes no group,
// and runs a short burst here.
func ofMemory(r *experiment.Run, pool string) (err error) {
	if r.Scale == experiment.Tiny {
		err := stall(r, pool, 20)
		r.Set("peak_bytes", float64(kit.PeakRSS()))
		return err
	}
	g, err := cgroup.OfMemory(memoryLimit)
	if err != nil {
		return experiment.NotHere(err)
	}
	defer func() { err = errors.Join(err, g.Remove()) }()
	_, ended := runInside(r, g)
	killed, err := g.Killed()
	if err != nil {
		return err
	}
	if ended != nil && killed == 0 {
		return ended // by itself
	}
	r.Set("oom_kills", float64(killed))
	peak, err := g.Peak()
	if err == nil {
		r.Set("peak_bytes", float64(peak))
	}
	return err
}

// stallInside is the child of ofMemory. It enters the group itself, so that there is nobody else whom the kernel
// could kill.
func stallInside(r *experiment.Run, pool, dir string) error {
	if err := cgroup.Enter(dir); err != nil {
		return err
	}
	debug.SetMemoryLimit(memoryLimit / 10 * 9)
	return stall(r, pool, 4096) // 256 MiB, whatever the scale: a shorter burst would fit
}

// stall sends packets through a pool whose worker stalls until all of them wait for it, or as many as the pool
// lets out.
func stall(r *experiment.Run, pool string, packets int) error {
	get, put, end := packetPool(r.Context, pool)
	defer end()
	out := packets
	if pool != unbound {
		out = min(packets, packetBound)
	}
	queue := make(chan []byte, packets)
	stalled := make(chan struct{}) // until the worker goes on
	var left, waiting atomic.Int64
	left.Store(int64(packets))
	var readers, workers sync.WaitGroup
	for range 4 {
		readers.Go(func() {
			for left.Add(-1) >= 0 {
				b := get()
				if b == nil { // the end of the run
					return
				}
				for at := 0; at < len(b); at += 4096 { // the packet arrives
					b[at] = 1
				}
				queue <- b
				if waiting.Add(1) == int64(out) {
					close(stalled)
				}
			}
		})
	}
	done := 0
	workers.Go(func() {
		select {
		case <-stalled:
		case <-r.Context.Done():
		}
		for b := range queue {
			done += int(b[0])
			put(b)
		}
	})
	readers.Wait()
	close(queue)
	workers.Wait()
	if done != packets && r.Context.Err() == nil {
		return fmt.Errorf("of %d packets %d have arrived", packets, done)
	}
	return nil
}

func judgeContainersKilled(m experiment.Measured) experiment.Finding {
	without, bound, budget := experiment.At(unbound+inMemory, "oom_kills"), experiment.At("sync.Pool behind a bound"+inMemory, "oom_kills"), experiment.At(budgeted+inMemory, "oom_kills")
	if f, lacking := m.Lacking(without, bound, budget); lacking {
		return f
	}
	peak := func(name string) string { return m.Text(experiment.At(name+inMemory, "peak_bytes")) }
	f := experiment.Finding{
		Measured: fmt.Sprintf("without a bound the kernel counts %s kills in a run, at a peak of %s", m.Text(without), peak(unbound)),
		Control: fmt.Sprintf("%s with a Budget of dewpond, at %s; %s with a sync.Pool behind a bound, at %s",
			m.Text(budget), peak(budgeted), m.Text(bound), peak("sync.Pool behind a bound")),
		Do: "Bound what is in flight: GOMEMLIMIT holds back garbage, and not what is used. Who has the bound does not matter, the pool or a semaphore before it.",
	}
	switch w := m.Figure(without); {
	case m.Figure(bound).Max > 0 || m.Figure(budget).Max > 0:
		f.Verdict, f.Why = experiment.NotReproduced, "the kernel kills a process whose pool has a bound"
	case w.Min >= 1:
		f.Verdict, f.Why = experiment.Reproduced, "each run without a bound is killed, and none with one"
	case w.Max == 0:
		f.Verdict, f.Why = experiment.NotReproduced, "nobody is killed"
	default:
		f.Verdict, f.Why = experiment.DirectionOnly, "not every run without a bound is killed"
	}
	return f
}
