package dewpond

import "github.com/dewpond/dewpond/internal/check"

// A late is what comes up while blocks or objects are let go and must wait until that is
// done: what checked mode finds, for the program's own code hears of it, and may call
// pools or panic; and a panic of a Source's Free, for others are still to be freed. The
// zero late is empty. Whoever has one calls end when it holds no lock and has nothing
// left to do.
type late struct {
	found    []finding
	panicked any // by the first Free that has; nil if none has
}

// A finding is a violation, and where it goes.
type finding struct {
	*reports
	check.Violation
}

// add keeps a violation, if there is one.
func (l *late) add(c *checks, found *check.Violation) {
	if found != nil {
		l.found = append(l.found, finding{c.reports, *found})
	}
}

// catch keeps a panic of the function that has deferred it.
func (l *late) catch() {
	if r := recover(); r != nil && l.panicked == nil {
		l.panicked = r
	}
}

// end reports all that was found, even if one of the calls panics, and panics again.
func (l *late) end() {
	if len(l.found) == 0 {
		if r := l.panicked; r != nil {
			l.panicked = nil
			panic(r)
		}
		return
	}
	first := l.found[0]
	l.found = l.found[1:]
	defer l.end()
	first.report(first.Violation)
}
