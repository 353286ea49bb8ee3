package guardpage

import (
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/internal/bubble"
)

// Turns say which Get is sampled: at random times, as often as the rate says, a random one of the
// next mostTurns. Were it always the next one, most would be Gets after a pause.
//
// The time comes by a timer that is armed by the sample before. So while nobody Gets there is none.
type Turns struct {
	Rate float64 // samples a second
	Arm  func()  // makes every pool ask whose turn it is, from now on

	left    atomic.Int64 // Gets that will ask until one is sampled, with that; 0: the time has not come
	stopped atomic.Bool
}

const mostTurns = 64

// begin makes the first turn one of the first Gets.
func (t *Turns) begin() { t.left.Store(1 + rand.Int64N(mostTurns)) }

// stop ends all turns.
func (t *Turns) stop() {
	t.stopped.Store(true)
	t.left.Store(0)
}

// Due reports whether a Get is wanted.
func (t *Turns) Due() bool { return t.left.Load() > 0 }

// Mine reports whether the caller's Get is to be sampled. It is never one in a bubble, whose timers
// end with it.
func (t *Turns) Mine() bool {
	for left := t.left.Load(); left > 0; left = t.left.Load() {
		if left == 1 && bubble.Inside() {
			return false
		}
		if t.left.CompareAndSwap(left, left-1) {
			if left > 1 {
				return false
			}
			time.AfterFunc(time.Duration(rand.ExpFloat64()/t.Rate*float64(time.Second)), t.next)
			return true
		}
	}
	return false
}

// next is called when the time has come.
func (t *Turns) next() {
	t.begin()
	if t.stopped.Load() {
		t.left.Store(0)
		return
	}
	t.Arm()
}

// A rate says how many samples a second there are, as counted over rateTime or more. It is guarded
// by the Guard's lock.
type rate struct {
	now, before struct {
		at      time.Time
		samples int
	}
	samples int
}

const rateTime = 10 * time.Second

// count counts a sample.
func (r *rate) count(at time.Time) {
	r.samples++
	if at.Sub(r.now.at) >= rateTime {
		r.before = r.now
		r.now.at, r.now.samples = at, r.samples
		if r.before.at.IsZero() {
			r.before = r.now
		}
	}
}

// load returns the samples a second of late, and 0 before there are any.
func (r *rate) load(at time.Time) float64 {
	if past := at.Sub(r.before.at); r.samples > 0 && past > 0 {
		return float64(r.samples-r.before.samples) / past.Seconds()
	}
	return 0
}
