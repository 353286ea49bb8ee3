package dewstatsviz

import (
	"sync"
	"time"

	"github.com/dewpond/dewpond"
)

// A watch has the Stats of all pools, of the last round and of the one before. Statsviz asks
// each line once in a round.
type watch struct {
	names    []string        // of the pools that have lines of their own
	own      map[string]bool // those names
	watchers func() int64    // how many look at the page; nil: it is not known

	mu     sync.Mutex
	round  int
	at     time.Time
	totals map[string]dewpond.Stats // by Name
	latest map[string]change        // by line
	looks  int                      // at pools; for tests
}

// A change is what a pool, or several, have and did in some seconds. The counts of Stats are
// those of the time before, but for Violations.
type change struct {
	dewpond.Stats
	seconds float64
	ever    dewpond.Stats // Gets and Hits since the pools were made
}

func newWatch() *watch {
	w := &watch{totals: map[string]dewpond.Stats{}, own: map[string]bool{}}
	for p := range dewpond.Pools() {
		w.names = append(w.names, p.Name())
		w.own[p.Name()] = true
	}
	w.refreshLocked(time.Now())
	w.round = 0 // in which every line was asked, so that statsviz's first question is another
	return w
}

// look returns what is new on a line. seen is the round in which the line was asked last: a
// line that is asked again begins another round. Where nobody looks, nothing is new.
func (w *watch) look(line string, seen *int) change {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watchers != nil && w.watchers() == 0 {
		return w.latest[line]
	}
	if *seen == w.round {
		w.refreshLocked(time.Now())
	}
	*seen = w.round
	return w.latest[line]
}

func (w *watch) refreshLocked(now time.Time) {
	totals, latest := map[string]dewpond.Stats{}, map[string]change{}
	seconds := now.Sub(w.at).Seconds()
	for p := range dewpond.Pools() {
		s := p.Stats()
		w.looks++
		totals[s.Name] = s
		before, known := w.totals[s.Name]
		if !known || s.Gets < before.Gets || s.Puts < before.Puts { // or a new pool of that name
			before = dewpond.Stats{}
		}
		since := s.Sub(before)
		since.Violations = s.Violations
		line := s.Name
		if !w.own[line] {
			line = later
		}
		sum := latest[line]
		sum.ever.Gets += s.Gets
		sum.ever.Hits += s.Hits
		latest[line] = change{sum.plus(since), seconds, sum.ever}
	}
	w.round, w.at, w.totals, w.latest = w.round+1, now, totals, latest
}

// plus adds what the plots show.
func (c change) plus(s dewpond.Stats) dewpond.Stats {
	sum := c.Stats
	sum.Gets += s.Gets
	sum.Hits += s.Hits
	sum.Misses += s.Misses
	sum.InUseBytes += s.InUseBytes
	sum.IdleBytes += s.IdleBytes
	sum.WaitDuration += s.WaitDuration
	sum.ReleasedBytes += s.ReleasedBytes
	sum.Violations += s.Violations
	return sum
}

// a second of a count. There are no infinite values: JSON has none, and statsviz would stop.
func (c change) rate(n float64) float64 {
	if c.seconds <= 0 {
		return 0
	}
	return n / c.seconds
}

// hitRate is that of all Gets ever if there was none: 0 would look like misses.
func (c change) hitRate() float64 {
	if c.Gets == 0 {
		return 100 * c.ever.HitRate()
	}
	return 100 * c.HitRate()
}

func (c change) misses() float64  { return c.rate(float64(c.Misses)) }
func (c change) waiting() float64 { return c.rate(c.WaitDuration.Seconds()) }
func (c change) trimmed() float64 { return c.rate(float64(c.ReleasedBytes)) }
