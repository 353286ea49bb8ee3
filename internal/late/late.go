// Package late keeps what must wait until a piece of work is done: reports, and a panic of a
// callback.
//
// While a pool frees blocks, checked mode finds violations, and an Allocator's Free may panic. A
// report calls the program's own code, which may call pools or panic, so it must not run under
// a lock; and after a panic, or a Goexit, the remaining blocks must still be freed.
package late

// A List is the reports and the panic of a piece of work. The zero List is empty. Its owner
// calls End when it holds no lock and has nothing left to do.
type List struct {
	reports  []func()
	panicked any // the value of the first panic
}

// Add keeps a report until End calls it.
func (l *List) Add(report func()) { l.reports = append(l.reports, report) }

// Catch keeps a panic of the function that defers it. It keeps the first of several.
func (l *List) Catch() {
	if r := recover(); r != nil && l.panicked == nil {
		l.panicked = r
	}
}

// End calls every report, even if one of them panics, and then panics with the value that
// Catch kept. It leaves the list empty.
func (l *List) End() {
	if len(l.reports) == 0 && l.panicked == nil {
		return
	}
	Finish(func() (more bool) {
		if r := l.panicked; r != nil {
			l.panicked = nil
			panic(r) // the first, which Finish keeps
		}
		if len(l.reports) == 0 {
			return false
		}
		report := l.reports[0]
		l.reports = l.reports[1:]
		report()
		return true
	})
}
