package metric

import (
	"iter"

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

// ReadOf yields the samples of a pool with these Stats.
func ReadOf(s dewpond.Stats) iter.Seq[*Sample] {
	return func(yield func(*Sample) bool) {
		r := reader{yield: yield, budgets: map[string]bool{}}
		r.read(func(yield func(dewpond.StatsSource) bool) { yield(fixed{s}) })
	}
}

type fixed struct{ stats dewpond.Stats }

func (f fixed) Name() string         { return f.stats.Name }
func (f fixed) Stats() dewpond.Stats { return f.stats }
