// Package late keeps what must wait until a piece of work is done: the reports of what
// was found meanwhile, and a panic of a callback.
//
// While a pool lets blocks go, checked mode finds violations, and a Source's Free may
// panic. The program's own code hears of a violation and may call pools or panic, so it
// must not be called under a lock; and after a panic there are others still to be freed.
package late

// A List is what has come up. The zero List is empty. Whoever has one calls End when it
// holds no lock and has nothing left to do.
type List struct {
	reports  []func()
	panicked any // what the first callback that panicked panicked with
}

// Add keeps a report, which End calls.
func (l *List) Add(report func()) { l.reports = append(l.reports, report) }

// Catch keeps a panic of the function that has deferred it. It keeps the first of several.
func (l *List) Catch() {
	if r := recover(); r != nil && l.panicked == nil {
		l.panicked = r
	}
}

// End calls every report, even if one of them panics, and then panics as the callback did.
// The list is empty then.
func (l *List) End() {
	if len(l.reports) == 0 {
		if r := l.panicked; r != nil {
			l.panicked = nil
			panic(r)
		}
		return
	}
	report := l.reports[0]
	l.reports = l.reports[1:]
	defer l.End()
	report()
}
