package guardpage

import (
	"strconv"
	"strings"
	"time"
	"unsafe"
)

// Environment is the variable that has blocks guarded, in the whole process.
const Environment = "DEWPOND_GUARD"

// DefaultRate is how many Gets a second are sampled if nothing says otherwise.
const DefaultRate = 10

// ParseRate returns how many Gets a second a value of Environment has sampled, 0 for none. It
// returns 0 and false if the value is none of off, touch and touch=RATE.
func ParseRate(text string) (rate float64, ok bool) {
	switch text {
	case "", "off":
		return 0, true
	case "touch":
		return DefaultRate, true
	}
	if number, touch := strings.CutPrefix(text, "touch="); touch {
		if rate, err := strconv.ParseFloat(number, 64); err == nil && rate > 0 && rate <= 1e6 {
			return rate, true
		}
	}
	return 0, false
}

// New returns a Guard that has so many Gets a second sampled, unless that cannot be here: see
// [Guard.Off]. arm makes every pool ask whose turn it is.
func New(rate float64, arm func()) *Guard {
	s, why := thisSystem()
	switch {
	case unsafe.Sizeof(uintptr(0)) < 8:
		why = "not on 32 bits"
	case sanitized != "":
		why = "the " + sanitized + " is on"
	}
	return newGuard(s, why, rate, arm)
}

func newGuard(s system, why string, rate float64, arm func()) *Guard {
	g := &Guard{sys: s, off: why, Turns: Turns{Rate: rate, Arm: arm}, records: map[uintptr]*record{}}
	if why == "" {
		g.begin()
	}
	return g
}

// Off returns why nothing is guarded, or "" while blocks are.
func (g *Guard) Off() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.off != "" {
		return g.off
	}
	return g.paused
}

// Ended returns why nothing will be guarded any more, or "".
func (g *Guard) Ended() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.off
}

// Known returns how many guarded blocks are out or idle.
func (g *Guard) Known() int { return int(g.known.Load()) }

// RealRate returns how many Gets a second were sampled of late.
func (g *Guard) RealRate() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rate.load(time.Now())
}
