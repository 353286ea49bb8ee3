package guardpage

import (
	"time"

	"github.com/dewpond/dewpond/misuse"
)

// A finding is a block that was used while it was idle.
type finding struct {
	owner Owner
	misuse.Violation
}

type findings []finding

func (f findings) report() {
	for _, one := range f {
		tallyUse(one.Violation)
		one.owner.Report(one.Violation)
	}
}

// armSweep has the queue swept in a while. There is no timer while the queue is empty.
func (g *Guard) armSweep() {
	if !g.sweeps {
		g.sweeps = true
		time.AfterFunc(sweepTime, func() {
			defer g.sweepAgain() // also if a report ends the goroutine
			g.Sweep()
		})
	}
}

// sweepAgain has what is left in the queue swept in a while.
func (g *Guard) sweepAgain() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.sweeps = false
	if len(g.queue) > 0 || len(g.found) > 0 {
		g.armSweep()
	}
}

// Sweep looks at all blocks in the queue, and reports those that were used. These leave it, and
// those that have waited for long enough. What another Sweep has found is reported when this one returns.
func (g *Guard) Sweep() {
	g.sweeping.Lock()
	defer g.sweeping.Unlock() // also if a report panics
	g.mu.Lock()
	g.askInTime()
	g.askLive()
	before := g.found // has been believed
	g.found = nil
	var found findings
	if g.ready() && (g.setting.Fault || g.proven()) {
		queue := g.queue
		g.queue = nil
		for _, r := range queue {
			one := g.look(r)
			found = append(found, one...)
			if one != nil || time.Since(r.put) >= queueTime || g.off != "" {
				g.drop(r)
			} else {
				g.queue = append(g.queue, r)
			}
		}
		found = g.believed(found)
	}
	g.mu.Unlock()
	before.report()
	found.report()
}

// believed returns what was found if nothing but the program can have touched the pages: it asks
// once more, for who reads all of the heap may have begun since. What was found is not in the queue any
// more, so nobody finds it again while ask lets go of the lock.
func (g *Guard) believed(found findings) findings {
	if found == nil {
		return nil
	}
	g.ask()
	if !g.ready() || !g.proven() {
		return nil
	}
	return found
}

// mostBytes is how many of the bytes that were written a report has.
const mostBytes = 32

// look returns what was done to an idle block, or nil. Nothing is done to one that is hidden.
func (g *Guard) look(r *record) findings {
	if g.setting.Fault {
		return nil
	}
	resident, err := g.sys.resident(r.pages)
	if err != nil {
		g.turnOff("mincore fails: " + err.Error())
		return nil
	}
	var touched *misuse.Violation
	first, last := -1, -1
	for page, is := range resident {
		if !is {
			continue // to read it would touch it
		}
		from := page * g.sys.pageSize
		if touched == nil {
			touched = r.violation(misuse.ReadAfterPut, false)
			touched.Offset = max(0, from-r.mark)
		}
		for i, b := range r.pages[from : from+g.sys.pageSize] {
			if b != 0 {
				if first < 0 {
					first = from + i
				}
				last = from + i
			}
		}
	}
	if touched == nil {
		return nil
	}
	if first >= 0 {
		touched.Kind, touched.Offset, touched.Written = misuse.WriteAfterPut, first-r.mark, last+1-first
		touched.New = make([]byte, min(mostBytes, touched.Written))
		for i := range touched.New {
			if resident[(first+i)/g.sys.pageSize] {
				touched.New[i] = r.pages[first+i]
			}
		}
		touched.Old = make([]byte, len(touched.New))
	}
	return findings{{r.owner, *touched}}
}
