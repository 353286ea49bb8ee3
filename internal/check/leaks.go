package check

import (
	"cmp"
	"slices"
	"time"

	"github.com/dewpond/dewpond/misuse"
)

// Out returns, as leaks that its caller reports, the watched blocks that have been out
// for longer than age by the clock of now, or with age 0 all that are out. It returns
// no block twice. n is how many blocks these are, and left how many others of that clock
// are out.
func (c *Checker) Out(age time.Duration, now time.Time) (leaks []misuse.Violation, n, left int) {
	leaks = c.gather(func(r *record) bool {
		switch {
		case r.state != out || r.reported || r.excused || age > 0 && !sameClock(now, r.gotAt):
			return false
		case age == 0 || now.Sub(r.gotAt) > age:
			return true
		}
		left++
		return false
	})
	for _, v := range leaks {
		n += v.Count
	}
	return leaks, n, left
}

// reportLost reports a leak that the collector has found, and those that it has found with it
// and not told of yet: where all blocks are watched, one report for each place tells what a
// collection has found.
func (c *Checker) reportLost(v misuse.Violation) {
	others := c.gather(func(r *record) bool { return r.state == out && !r.reported && !r.excused && r.dead() })
	for _, v := range byPlace(append(others, v)) {
		c.report(v)
	}
}

// gather returns the leaks among the blocks, one Violation for each place, those of the most
// bytes first. leaked is called with a shard locked.
func (c *Checker) gather(leaked func(r *record) bool) (all []misuse.Violation) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for _, r := range s.at {
			if leaked(r) {
				r.reported = true
				all = append(all, *r.violation(misuse.Leak, nil))
			}
		}
		s.mu.Unlock()
	}
	return byPlace(all)
}

// byPlace makes one violation of the leaks of each place.
func byPlace(leaks []misuse.Violation) []misuse.Violation {
	slices.SortFunc(leaks, comparePlaces)
	places := leaks[:0]
	for _, v := range leaks {
		if n := len(places); n > 0 && comparePlaces(places[n-1], v) == 0 {
			p := &places[n-1]
			p.Count += v.Count
			p.Bytes += v.Bytes
			p.Size, p.Age = max(p.Size, v.Size), max(p.Age, v.Age)
			continue
		}
		places = append(places, v)
	}
	slices.SortStableFunc(places, func(a, b misuse.Violation) int { return cmp.Compare(b.Bytes, a.Bytes) })
	return places
}

func comparePlaces(a, b misuse.Violation) int {
	return cmp.Or(slices.Compare(a.Got, b.Got), slices.CompareFunc(a.Owners, b.Owners, slices.Compare[[]uintptr]))
}
