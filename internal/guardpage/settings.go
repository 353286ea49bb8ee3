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

// A Setting is what a value of Environment asks for.
type Setting struct {
	Rate  float64 // how many Gets a second are sampled; 0 for none
	Fault bool    // whoever touches an idle block faults, instead of being seen afterwards
}

// String returns off, touch or fault.
func (s Setting) String() string {
	switch {
	case s.Rate == 0:
		return "off"
	case s.Fault:
		return "fault"
	}
	return "touch"
}

// Parse returns what a value of Environment asks for. ok is false if the value is none of off, touch, fault,
// touch=RATE and fault=RATE. Then it asks for nothing.
func Parse(text string) (s Setting, ok bool) {
	word, number, hasRate := strings.Cut(text, "=")
	switch {
	case text == "", text == "off":
		return Setting{}, true
	case word != "touch" && word != "fault":
		return Setting{}, false
	case !hasRate:
		return Setting{Rate: DefaultRate, Fault: word == "fault"}, true
	}
	rate, err := strconv.ParseFloat(number, 64)
	if err != nil || !(rate > 0 && rate <= 1e6) {
		return Setting{}, false
	}
	return Setting{Rate: rate, Fault: word == "fault"}, true
}

// New returns a Guard that does what a Setting asks for, unless that cannot be here: see [Guard.Off]. arm
// makes every pool ask whose turn it is.
func New(asked Setting, arm func()) *Guard {
	s, why := thisSystem()
	switch {
	case unsafe.Sizeof(uintptr(0)) < 8:
		why = "not on 32 bits"
	case sanitized != "":
		why = "the " + sanitized + " is on"
	}
	return newGuard(s, why, asked, arm)
}

func newGuard(s system, why string, asked Setting, arm func()) *Guard {
	g := &Guard{sys: s, off: why, setting: asked, Turns: Turns{Rate: asked.Rate, Arm: arm}, records: map[uintptr]*record{}, mostIdle: fewBytes}
	if why == "" {
		g.begin()
	}
	return g
}

// Setting returns what the Guard was asked for.
func (g *Guard) Setting() Setting { return g.setting }

// Off returns why nothing is guarded, or "" while blocks are.
func (g *Guard) Off() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.off != "":
		return g.off
	case g.paused == "" && g.unasked && g.out.full(g.sys.pageSize, g.most()):
		return "as many guarded blocks are out as may be, where huge pages are made unasked"
	}
	return g.paused
}

// LosesForGood reports whether a guarded block that its owner loses is never collected, nor the pool's own.
func (g *Guard) LosesForGood() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.unasked
}

// Ended returns why nothing will be guarded any more, or "".
func (g *Guard) Ended() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.off
}

// Known returns how many guarded blocks are out or idle.
func (g *Guard) Known() int { return int(g.known.Load()) }

// Begins reports whether a guarded block that is out or idle begins at an address.
func (g *Guard) Begins(at uintptr) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.find(at) != nil
}

// RealRate returns how many Gets a second were sampled of late.
func (g *Guard) RealRate() float64 {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.rate.load(time.Now())
}
