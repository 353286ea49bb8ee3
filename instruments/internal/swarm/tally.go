package swarm

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
)

// A tally adds up reports, each of them once. It knows no clock but the one that it is given.
type tally struct {
	first   *beginning
	agents  []member
	aborted string
	stopped bool             // the coordinator told the agents to end
	seconds map[int][]second // by when they ended, since the start
	shown   load.Progress
}

// A second is what an agent measured in one.
type second struct {
	agent int
	load.Second
	sessions load.Part // that ended in it: the response alone, with its histogram
}

// A member is an agent as the coordinator sees it.
type member struct {
	seen    map[int]bool
	results []load.Result
	heard   time.Time
	late    time.Duration // of its first session
	told    int           // the last second that it told
	final   bool
	lost    bool
	silence time.Duration // after which it was lost
	after   uint64        // reports since it was lost
	failed  string
	early   string // why it ended before its time
	stopped bool   // before its time, by a coordinator
}

func newTally(first *beginning, now time.Time) *tally {
	t := &tally{first: first, agents: make([]member, len(first.Agents)), seconds: map[int][]second{}}
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

// mostKept is how many results of an agent are kept one by one: each has the histograms of every step, and
// a run may take days.
const mostKept = 60

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
		a.final, a.failed, a.early = true, r.Error, r.Early
		a.stopped = r.Result.Interrupted && r.Early == ""
	}
	a.results = append(a.results, r.Result)
	if len(a.results) > mostKept && !r.Final {
		a.results = []load.Result{load.Merge(a.results...)}
	}
	for _, s := range r.Result.Series {
		at := int(math.Round(s.At))
		t.seconds[at] = append(t.seconds[at], second{r.Agent, s, load.Part{Name: r.Result.Session.Name, Response: r.Result.Session.Response}})
		a.told = max(a.told, at)
	}
}

// patience is how many seconds of the others the coordinator looks at without an agent's that has not
// told them.
const patience = 3

// next returns the next second of the schedule, and how far the run is with it, if all agents have told
// it that have more to tell.
func (t *tally) next() (s load.Second, p load.Progress, ok bool) {
	newest, slowest := 0, math.MaxInt
	for _, a := range t.agents {
		newest = max(newest, a.told)
		if !a.final && !a.lost {
			slowest = min(slowest, a.told)
		}
	}
	at := int(t.shown.Elapsed/time.Second) + 1
	if at > max(min(newest, slowest), newest-patience) {
		return s, p, false
	}
	s = t.second(at)
	p = load.Progress{
		Elapsed: time.Duration(at) * time.Second, Rate: float64(s.Started), InFlight: s.InFlight, Worst: time.Duration(s.Response.Max),
		Failed: t.shown.Failed + s.Failed, Dropped: t.shown.Dropped + s.Dropped,
	}
	if s.Response.P99 != nil {
		p.P99 = time.Duration(*s.Response.P99)
	}
	t.shown = p
	return s, p, true
}

// name names an agent for people.
func (t *tally) name(i int) string { return t.first.name(i) }

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

func (t *tally) lose(i int, silence time.Duration) {
	t.agents[i].lost, t.agents[i].silence = true, silence
}

// untold returns why an agent has told nothing that can be added up, or an empty text.
func (t *tally) untold(i int) string {
	a := &t.agents[i]
	told := slices.ContainsFunc(a.results, func(r load.Result) bool { return r.Schema != 0 })
	switch {
	case a.failed != "":
		return a.failed
	case told:
		return ""
	case a.lost:
		return fmt.Sprintf("it said nothing for %v after its start", a.silence)
	}
	return "it ended before its first result"
}

// complete reports whether nothing more is to come.
func (t *tally) complete() bool {
	return !slices.ContainsFunc(t.agents, func(a member) bool { return !a.final && !a.lost })
}

// mostLate is how late an agent may begin where the result is valid: a P99 of the lag does not show it
// where the samples are few.
const mostLate = time.Second

// result returns the sum.
func (t *tally) result(s load.Scenario) (load.Result, error) {
	var all []load.Result
	var untold []string
	earliest := time.Duration(1<<63 - 1)
	for i, a := range t.agents {
		all = append(all, a.results...)
		earliest = min(earliest, a.late)
		if why := t.untold(i); why != "" {
			untold = append(untold, fmt.Sprintf("%s: %s", t.name(i), why))
		}
	}
	if len(untold) == len(t.agents) {
		return load.Result{}, fmt.Errorf("no agent told a result: %s", strings.Join(untold, "; "))
	}
	// The final reports have no parts, and the first result names what the sum is of.
	slices.SortStableFunc(all, func(a, b load.Result) int { return b.Schema - a.Schema })
	out := load.Merge(all...)
	stopped := t.stopped || t.aborted != "" || slices.ContainsFunc(t.agents, func(a member) bool { return a.stopped })
	out.Interrupted = stopped || !slices.ContainsFunc(t.agents, func(a member) bool { return a.early == "" })
	var planned []uint64
	if slices.ContainsFunc(t.agents, func(a member) bool { return a.short(stopped) }) {
		planned = t.planned(s, out.Interrupted)
	}
	for i, a := range t.agents {
		sum := load.Merge(a.results...)
		member := load.Agent{
			Name: t.first.Agents[i], Started: sum.Started, Finished: sum.Finished, Late: a.after,
			Offset: float64(t.first.Offsets[i]), First: float64(a.late - earliest),
		}
		short := ""
		if a.short(stopped) {
			member.NotMade = planned[i] - min(planned[i], sum.Offered+sum.Cut)
			out.NotMade += member.NotMade
			out.Offered += member.NotMade
			short = fmt.Sprintf("of the arrivals i with i mod %d = %d, %d of %d were not made", len(t.agents), i, member.NotMade, planned[i])
		}
		switch {
		case a.lost:
			at := a.heard.Sub(t.first.Start).Seconds()
			member.LostAt = &at
			out.Why = append(out.Why, fmt.Sprintf("agent %d is lost from %.1f s on: %s, or not told of", i, at, short))
		case a.failed != "":
			out.Why = append(out.Why, fmt.Sprintf("%s failed: %s: %s", t.name(i), a.failed, short))
		case a.early != "" && !stopped:
			out.Why = append(out.Why, fmt.Sprintf("%s ended before its time: %s: %s", t.name(i), a.early, short))
		}
		if a.late > mostLate {
			out.Why = append(out.Why, fmt.Sprintf("agent %d began %.1f s late: what it had to make until then was late", i, a.late.Seconds()))
		}
		out.Agents = append(out.Agents, member)
	}
	out.Series = t.series()
	if out.Aborted = t.aborted; out.Aborted != "" {
		out.Interrupted = false // that is how the agents saw it
	}
	out.Partial = out.Interrupted || out.Aborted != ""
	out.Judge(s)
	return out, nil
}

// short reports whether the agent has not made all that the run had for it, the run being stopped or not.
func (a *member) short(stopped bool) bool {
	return a.lost || a.failed != "" || a.early != "" && !stopped
}

// planned counts the arrivals of each agent that are measured: those until the last agent ended, if the
// run as a whole ended before its time.
func (t *tally) planned(s load.Scenario, ended bool) []uint64 {
	until := s.Arrivals.Warmup + s.Arrivals.Length()
	if ended {
		until = 0
		for _, a := range t.agents {
			for _, r := range a.results {
				until = max(until, s.Arrivals.Warmup+time.Duration(r.Seconds*1e9))
			}
			if a.lost {
				until = max(until, a.heard.Sub(t.first.Start))
			}
		}
	}
	out := make([]uint64, len(t.agents))
	for i, at := range s.Arrivals.Times() {
		if at >= until {
			break
		}
		if at >= s.Arrivals.Warmup {
			out[i%len(out)]++
		}
	}
	return out
}

// series has the seconds of all agents, by the clock of the schedule: a late agent has none of the first.
func (t *tally) series() []load.Second {
	var out []load.Second
	for _, at := range slices.Sorted(maps.Keys(t.seconds)) {
		out = append(out, t.second(at))
	}
	return out
}

// second returns the sum of what was told of one.
func (t *tally) second(at int) load.Second {
	sum := load.Second{At: float64(at)}
	var sessions []load.Result
	last := map[int]second{} // of each agent
	for _, s := range t.seconds[at] {
		sessions = append(sessions, load.Result{Session: s.sessions})
		sum.Started += s.Started
		sum.Ended += s.Ended
		sum.Failed += s.Failed
		sum.Dropped += s.Dropped
		last[s.agent] = s
	}
	for _, s := range last {
		sum.InFlight += s.InFlight
		sum.InFlightMean += s.InFlightMean
	}
	sum.Response = load.Merge(sessions...).Session.Response
	sum.Response.Histogram = nil
	return sum
}
