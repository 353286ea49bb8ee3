package guardpage

import "time"

// News is what becomes known, once a process, of whether blocks are guarded.
type News uint8

const (
	Works  News = iota // the first guarded block is out
	Pauses             // nothing is guarded now
	Ended              // nothing will be guarded any more
	kinds
)

// Tell has tell called with the first News of each kind, and with why, if it is not Works: now if nothing is
// guarded here, else in a goroutine of its own, for who calls Get may hold the lock of a log.
func (g *Guard) Tell(tell func(n News, why string)) {
	if why := g.Ended(); why != "" {
		tell(Ended, why)
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.tell = tell
}

// news tells what there is news of, not in a bubble: nothing is sampled there, nor is the system asked.
func (g *Guard) news(n News, why string) {
	if tell := g.tell; tell != nil && !g.told[n] {
		g.told[n] = true
		time.AfterFunc(0, func() { tell(n, why) })
	}
}
