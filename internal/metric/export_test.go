package metric

import (
	"github.com/dewpond/dewpond"
)

// Steps are what a Read takes.
type Steps struct{ Samples, Names, Stats, Looks int }

// CountSteps reads as Read does, and counts.
func CountSteps() (n Steps) {
	r := reader{yield: func(*Sample) bool { n.Samples++; return true }, budgets: map[string]bool{}}
	r.read(func(yield func(dewpond.StatsSource) bool) {
		for p := range dewpond.Pools() {
			if !yield(counted{p, &n}) {
				return
			}
		}
	})
	n.Looks = r.looks
	return n
}

// A counted pool counts what it is asked.
type counted struct {
	dewpond.StatsSource
	*Steps
}

func (c counted) Name() string         { c.Steps.Names++; return c.StatsSource.Name() }
func (c counted) Stats() dewpond.Stats { c.Steps.Stats++; return c.StatsSource.Stats() }
