package dewpond

import (
	"slices"
	"sync"
	"time"

	"github.com/dewpond/dewpond/internal/late"
)

// listeners are who wants to know of every pool's violations.
var listeners struct {
	mu  sync.Mutex
	all []*func(Violation)
}

// OnViolation calls f for every misuse that checked mode finds in any pool, also in one
// that has been closed or collected, after the pool's own OnViolation and under the same
// rules. While there is an f nothing is logged. It ends with stop; f may be running
// still when stop returns. Test harnesses are what it is for.
func OnViolation(f func(Violation)) (stop func()) {
	if f == nil {
		panic("dewpond: OnViolation(nil): give a function to call")
	}
	listeners.mu.Lock()
	defer listeners.mu.Unlock()
	listeners.all = append(slices.Clone(listeners.all), &f) // tellAll may have the old one
	return func() {
		listeners.mu.Lock()
		defer listeners.mu.Unlock()
		listeners.all = slices.DeleteFunc(slices.Clone(listeners.all), func(g *func(Violation)) bool { return g == &f })
	}
}

// tellAll reports whether there was anybody to tell.
func tellAll(v Violation) bool {
	listeners.mu.Lock()
	all := listeners.all
	listeners.mu.Unlock()
	for _, f := range all {
		(*f)(v)
	}
	return len(all) > 0
}

// ReportLeaks reports every block that Check watches and that is out as a Leak, none
// twice, and returns how many. It is for the end of a test or of a program, when all
// must have come back; a block that comes back later is taken all the same.
func (p *BytePool) ReportLeaks() int { return p.actual().checks.reportLeaks() }

// ReportLeaks reports every object that Check watches and that is out as a Leak, none
// twice, and returns how many. It is for the end of a test or of a program, when all
// must have come back; an object that comes back later is taken all the same.
func (p *Pool[T]) ReportLeaks() int { return p.actual().checks.reportLeaks() }

func (c *checks) reportLeaks() int {
	if c == nil {
		return 0
	}
	var l late.List
	defer l.End()
	leaks, _ := c.Leaks(0, time.Time{}, &l)
	return leaks
}
