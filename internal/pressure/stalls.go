package pressure

import (
	"bytes"
	"time"
)

// stallTotals is how long tasks have waited for memory since the group, or the system,
// began: the field total of PSI, in microseconds. The averages beside it cover 10 s or
// more and are updated every 2 s, which is too late. See
// docs.kernel.org/accounting/psi.html.
type stallTotals struct {
	some uint64 // at least one task
	full uint64 // all tasks at once
}

// parseStalls parses lines "some avg10=0.00 avg60=0.00 avg300=0.00 total=0".
func parseStalls(data []byte) (t stallTotals, ok bool) {
	for line := range bytes.Lines(data) {
		_, text, found := bytes.Cut(line, []byte(" total="))
		total, valid := parseNumber(bytes.TrimSpace(text))
		if !found || !valid {
			return stallTotals{}, false
		}
		switch {
		case bytes.HasPrefix(line, []byte("some ")):
			t.some, ok = uint64(total), true
		case bytes.HasPrefix(line, []byte("full ")):
			t.full = uint64(total)
		}
	}
	return t, ok
}

// minWindow is the shortest time over which a share of stalls is meaningful: 5 % of it
// is 25 ms. In a shorter one, a single slow page fault would be pressure.
const minWindow = 500 * time.Millisecond

// A stallWindow turns successive totals into shares of time. The zero stallWindow is
// ready for use: it begins at its first totals.
type stallWindow struct {
	begun      bool
	from       stallTotals
	since      time.Time
	some, full float64 // of the last window
}

// next returns which share of the time since the last totals was spent waiting. If that
// time is shorter than minWindow, it returns the shares of the window before, and the
// time counts for the next one.
func (w *stallWindow) next(t stallTotals, now time.Time) (some, full float64) {
	elapsed := now.Sub(w.since)
	switch {
	case !w.begun || t.some < w.from.some || t.full < w.from.full:
		*w = stallWindow{begun: true, from: t, since: now}
	case elapsed < 0: // the clock was set back: start again, with no shares known
		w.from, w.since = t, now
	case elapsed >= minWindow:
		us := float64(elapsed) / float64(time.Microsecond)
		w.some, w.full = float64(t.some-w.from.some)/us, float64(t.full-w.from.full)/us
		w.from, w.since = t, now
	}
	return w.some, w.full
}
