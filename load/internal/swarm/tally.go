package swarm

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/load"
)

// A tally adds up reports, each of them once. It knows no clock but the one that it is given.
type tally struct {
	first   *beginning
	agents  []member
	aborted string
}

// A member is an agent as the coordinator sees it.
type member struct {
	seen    map[int]bool
	results []load.Result
	heard   time.Time
	late    time.Duration // of its first session
	final   bool
	lost    bool
	after   uint64 // reports since it was lost
	failed  string
}

func newTally(first *beginning, now time.Time) *tally {
	t := &tally{first: first, agents: make([]member, len(first.Agents))}
	for i := range t.agents {
		t.agents[i] = member{seen: map[int]bool{}, heard: later(now, first.Start)}
	}
	return t
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// add takes a report, if it is new and its agent is not lost.
func (t *tally) add(r report, now time.Time) {
	if r.Agent < 0 || r.Agent >= len(t.agents) {
		return
	}
	a := &t.agents[r.Agent]
	if a.seen[r.Number] {
		return
	}
	a.seen[r.Number] = true
	if a.lost {
		a.after++
		return
	}
	a.heard = later(now, a.heard)
	a.late = r.Late
	if r.Final {
		a.final, a.failed = true, r.Error
	}
	a.results = append(a.results, r.Result)
}

// silent returns the agents that have said nothing for so long, and are not known to be at an end.
func (t *tally) silent(now time.Time, most time.Duration) []int {
	var out []int
	for i, a := range t.agents {
		if !a.final && !a.lost && now.Sub(a.heard) > most {
			out = append(out, i)
		}
	}
	return out
}

func (t *tally) lose(i int) { t.agents[i].lost = true }

// complete reports whether nothing more is to come.
func (t *tally) complete() bool {
	return !slices.ContainsFunc(t.agents, func(a member) bool { return !a.final && !a.lost })
}

// result returns the sum.
func (t *tally) result(s load.Scenario) (load.Result, error) {
	var all []load.Result
	var failed []string
	earliest := time.Duration(1<<63 - 1)
	for i, a := range t.agents {
		all = append(all, a.results...)
		earliest = min(earliest, a.late)
		if a.failed != "" {
			failed = append(failed, fmt.Sprintf("agent %d: %s", i, a.failed))
		}
	}
	if len(failed) > 0 {
		return load.Result{}, errors.New(strings.Join(failed, "; "))
	}
	// The final reports have no parts, and the first result names what the sum is of.
	slices.SortStableFunc(all, func(a, b load.Result) int { return b.Schema - a.Schema })
	out := load.Merge(all...)
	for i, a := range t.agents {
		sum := load.Merge(a.results...)
		member := load.Agent{
			Name: t.first.Agents[i], Started: sum.Started, Finished: sum.Finished, Late: a.after,
			Offset: float64(t.first.Offsets[i]), First: float64(a.late - earliest),
		}
		if a.lost {
			at := a.heard.Sub(t.first.Start).Seconds()
			member.LostAt = &at
			out.Why = append(out.Why, fmt.Sprintf("agent %d is lost from %.1f s on: the arrivals i with i mod %d = %d were not made, and the rate is short", i, at, len(t.agents), i))
		}
		out.Agents = append(out.Agents, member)
	}
	out.Series = t.series()
	if out.Aborted = t.aborted; out.Aborted != "" {
		out.Interrupted = false // that is how the agents saw it
	}
	out.Judge(s)
	return out, nil
}

// series has the seconds of all agents, by the number of their reports.
func (t *tally) series() []load.Second {
	longest := 0
	for _, a := range t.agents {
		longest = max(longest, len(a.results)-1) // the last has what is left
	}
	var out []load.Second
	for i := range longest {
		var part []load.Result
		for _, a := range t.agents {
			if i < len(a.results)-1 {
				part = append(part, a.results[i])
			}
		}
		if len(part) == 0 {
			continue
		}
		sum := load.Merge(part...)
		sum.Session.Response.Histogram = nil
		out = append(out, load.Second{
			At: float64(i + 1), Started: sum.Started, Ended: sum.Finished, Failed: sum.Failed, Dropped: sum.Dropped, Response: sum.Session.Response,
		})
	}
	return out
}
