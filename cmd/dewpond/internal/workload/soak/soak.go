// Package soak uses pools of all sizes, lifetimes and ages for as long as it is told, and then
// checks what remains. soaker.go has its goroutines, rotation.go its pools, disturbance.go what
// changes around them, pareto.go the distribution of sizes.
package soak

import (
	"errors"
	"runtime"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/pressure"
)

// Scenario is the scenario soak.
var Scenario = workload.Scenario{
	Name: "soak",
	About: "blocks of heavy-tailed sizes and lifetimes (most are small and out for microseconds, some are 1 MiB or out for seconds), many put " +
		"back by another goroutine; pools are made and closed all the time, half of them under a Budget; GOMAXPROCS and the memory limit change. " +
		"At the end everything is put back: then nothing may be idle, in use or running, or the command fails. --duration is the time of the whole scenario, for all contenders together.",
	Defaults: workload.Spec{
		Goroutines:  8,
		Garbage:     20e6,
		Rate:        50_000,
		Duration:    3 * time.Minute,
		Every:       100 * time.Millisecond,
		IdleTimeout: 500 * time.Millisecond,
	},
	Rounds:        1,
	QuickRounds:   1,
	QuickDuration: 12 * time.Second,
	Shared:        true,
	Paced:         true,
	AnySize:       true,
	Contenders:    []string{"make", "dewpond", "dewpond-offheap"},
	Drive:         run,
}

const (
	// mostPatience is how long memory and goroutines may take to go away. Everything that works
	// is faster, whatever else the machine does.
	mostPatience = time.Minute
	// restTimeouts is how many IdleTimeouts of a round are reserved for the rest after work.
	restTimeouts = 4
)

// A soaking is a round of soak: its goroutines, with what they share.
type soaking struct {
	*workload.Job
	*rotation
	soakers []*soaker
	stop    atomic.Bool
	failure atomic.Pointer[error]

	goroutines int           // before the round
	patience   time.Duration // mostPatience, except in tests
}

// run works for most of the round, and then checks what remains.
func run(j *workload.Job) error { return newSoaking(j).run() }

func (s *soaking) run() error {
	err := s.Measured(s.work)
	err = errors.Join(err, s.rest())
	for _, k := range s.soakers {
		s.Result.Ops += k.ops
		s.Result.Verified += k.verified
		s.Result.Figures["refused"] += float64(k.refused)
	}
	s.Result.Figures["pools_made"] = float64(s.made)
	s.Result.Figures["pools_closed_in_use"] = float64(s.closedInUse)
	s.restGoroutines()
	return err
}

func newSoaking(j *workload.Job) *soaking {
	// j has made one pool already, which has no goroutine.
	s := &soaking{goroutines: runtime.NumGoroutine(), patience: mostPatience, Job: j, rotation: newRotation(j)}
	for i := range j.Goroutines {
		s.soakers = append(s.soakers, newSoaker(s, i))
	}
	return s
}

// work runs everything at once, until it is time to rest.
func (s *soaking) work() error {
	length := max(s.Duration-restTimeouts*s.IdleTimeout, s.Duration/2)
	around := disturb(length, s.inUse)
	gauges := []workload.Gauge{
		{Name: "in_use_bytes", Read: s.inUse},
		{Name: "goroutines", Read: func() int64 { return int64(runtime.NumGoroutine()) }},
		{Name: "pressure", Read: func() int64 { return int64(pressure.Current()) }},
	}
	if _, ok := s.Job.Pool.(contender.Idler); ok {
		gauges = append(gauges, workload.Gauge{Name: "idle_bytes", Read: s.idle})
	}
	watch := s.Watch(length, gauges)
	var wg sync.WaitGroup
	for _, k := range s.soakers {
		wg.Go(k.run)
	}
	for end := kit.Now() + length; kit.Now() < end && !s.stop.Load(); {
		if s.Pause(min(s.Every, end-kit.Now())) {
			break
		}
		s.renew()
	}
	s.stop.Store(true)
	wg.Wait()
	watch.Stop()
	around.stop()
	s.Result.Figures["pressure_rises"] = float64(around.rises)
	s.Result.Figures["pressure_peak"] = float64(around.peak)
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// fail ends the round with an error.
func (s *soaking) fail(err error) {
	s.failure.CompareAndSwap(nil, &err)
	s.stop.Store(true)
}

// inUse returns the bytes that are out of all pools, by the soakers' own count.
func (s *soaking) inUse() int64 {
	sum := int64(0)
	for _, k := range s.soakers {
		sum += k.out.Load()
	}
	return sum
}

// rest puts everything back and records what is left then. It trims half of the pools at once
// and leaves the others to decay; in the end it trims and closes all.
func (s *soaking) rest() error {
	for _, k := range s.soakers {
		k.putBack()
	}
	if err := s.failure.Load(); err != nil {
		return *err
	}
	standing, ok := s.standing()
	if !ok {
		return nil // the pools cannot account for their memory
	}
	began := kit.Now()
	var trimmed, decaying []contender.Keeper
	var inUse int64
	for i, k := range standing {
		_, n, _ := k.Held()
		inUse += n
		if i%2 == 1 {
			k.Trim()
			trimmed = append(trimmed, k)
		} else {
			decaying = append(decaying, k)
		}
	}
	untrimmed := idleOf(trimmed)
	f := s.Result.Figures
	f["pressure_at_rest"] = float64(pressure.Current())
	s.Pause(2 * s.IdleTimeout)
	f["idle_after_two_timeouts_bytes"] = float64(idleOf(decaying))
	for idleOf(decaying) > 0 && kit.Now()-began < s.patience && !s.Cut() {
		s.Pause(s.IdleTimeout / 8)
	}
	if !s.Cut() { // otherwise the rest was not waited for
		f["decayed_in_ns"] = float64(kit.Now() - began)
		f["stranded_bytes"] = float64(idleOf(decaying))
	}
	for _, k := range standing {
		k.Trim()
	}
	f["stranded_after_trim_bytes"] = float64(untrimmed + idleOf(standing))
	err := s.closeAll()
	for began = kit.Now(); (len(s.closed) > 0 || s.budget.Used() > 0) && kit.Now()-began < s.patience && !s.Cut(); s.sweep() {
		s.Pause(s.IdleTimeout / 8)
	}
	idle, out, reserved := s.left()
	f["in_use_at_rest_bytes"] = float64(inUse + out)
	f["stranded_after_close_bytes"] = float64(idle + reserved)
	f["budget_at_rest_bytes"] = float64(s.budget.Used())
	return err
}

// restGoroutines counts the goroutines after those that are about to end have ended.
func (s *soaking) restGoroutines() {
	before := s.goroutines
	for began := kit.Now(); runtime.NumGoroutine() > before && kit.Now()-began < s.patience && !s.Cut(); {
		s.Pause(beat)
	}
	f := s.Result.Figures
	f["goroutines_at_start"] = float64(before)
	if !s.Cut() {
		now := runtime.NumGoroutine()
		f["goroutines_at_rest"] = float64(now)
		f["goroutines_left"] = float64(max(0, now-before))
	}
	debug.FreeOSMemory()
	if rss := kit.RSS(); rss > 0 {
		f["rss_at_rest_bytes"] = float64(rss)
	}
}
