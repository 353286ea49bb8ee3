//go:build dewpond_explore && !dewpond_engine

package main

import (
	"time"

	"github.com/dewpond/dewpond/internal/atomics"
	decayer "github.com/dewpond/dewpond/internal/decay"
)

// The scenarios of this file run several Decayers with one Ticker: decayer.go and ticker.go of
// internal/decay as they ship.

// A tickedPool is as much of a pool as decay sees. Its blocks have one byte.
type tickedPool struct {
	decayer.Decayer
	idle  atomics.Int64
	ticks int
}

func (p *tickedPool) Low(uint8) int   { return 0 }
func (p *tickedPool) Least(uint8) int { return 0 }
func (p *tickedPool) Reserved() int64 { return p.idle.Load() }
func (p *tickedPool) Spread() bool    { return false }
func (p *tickedPool) DropSpares()     { p.ticks++ }
func (p *tickedPool) Peak() int64     { return 0 }
func (p *tickedPool) Follow(int64)    {}
func (p *tickedPool) Beyond() int64   { return 0 }

func (p *tickedPool) put() { p.idle.Add(1); p.Kept() }

// tickedPools makes pools with these timeouts, of one Ticker.
func (w *world) tickedPools(timeouts ...time.Duration) {
	ticker := decayer.NewTicker(func() decayer.Haste { return decayer.NoHaste }, func([]decayer.Idle) {})
	for _, timeout := range timeouts {
		p := new(tickedPool)
		p.Init(ticker, timeout, nil, nil, decayer.Part{Idle: p, Sizes: []int{1}})
		w.ticked = append(w.ticked, p)
	}
}

// tickedAgain checks that each pool in which something is idle has another tick.
func tickedAgain(w *world) {
	var before []int
	for i, p := range w.ticked {
		before = append(before, p.ticks)
		if p.idle.Load() > 0 && !p.Armed() {
			w.run.fail("something is idle in pool %d, which is not armed", i)
		}
	}
	for range 2 * len(w.ticked) {
		w.fire()
	}
	for i, p := range w.ticked {
		if p.idle.Load() > 0 && p.ticks == before[i] {
			w.run.fail("something is idle in pool %d, and no timer ticks it", i)
		}
	}
	w.timers = nil
}

var tickerScenarios = []scenario{
	{
		name: "tick-put", about: "the timer of all pools fires, and finds one of them empty, while a thread puts into another", config: engine(singles), procs: 2,
		setup: func(w *world) {
			w.tickedPools(time.Minute, time.Minute)
			w.ticked[0].put()
			w.ticked[0].idle.Add(-1)
		},
		threads: []func(w *world){
			(*world).fire,
			func(w *world) { w.ticked[1].put() },
		},
		after: tickedAgain,
	},
	{
		name: "tick-same", about: "the timer finds a pool empty while a thread puts into it, and another pool waits for a later tick", config: engine(singles), procs: 2,
		setup: func(w *world) {
			w.tickedPools(time.Minute, time.Hour)
			w.ticked[0].put()
			w.ticked[1].put()
			w.ticked[0].idle.Add(-1)
		},
		threads: []func(w *world){
			(*world).fire,
			func(w *world) { w.ticked[0].put() },
		},
		after: tickedAgain,
	},
	{
		name: "tick-fires", about: "a timer fires while the goroutine of another comes to the end of what was due", config: engine(singles), procs: 2,
		setup: func(w *world) {
			w.tickedPools(time.Hour, time.Minute)
			w.ticked[0].put()
			w.ticked[1].put()
			w.ticked[1].idle.Add(-1)
		},
		threads: []func(w *world){
			func(w *world) { w.fireLast() },
			(*world).fire,
		},
		after: tickedAgain,
	},
}

// fireLast calls the function of the timer that was armed last.
func (w *world) fireLast() {
	if last := len(w.timers) - 1; last >= 0 {
		f := w.timers[last]
		w.timers = w.timers[:last]
		f()
	}
}
