package sessionlog

import (
	"errors"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/dewpond/dewpond/instruments/kit/quantile"
)

// Features are what a log shows of its sessions.
type Features struct {
	Sessions    int
	Requests    int
	Rate        float64 // sessions a second
	Variation   float64 // of the time between two sessions: 0 is constant, 1 is Poisson
	Span        time.Duration
	Kinds       []Kind             // in the order in which sessions have them
	Protocols   map[string]float64 // shares of the requests
	Transitions []Transition       // by the state before, and then by share

	sessions  [][]*state
	protocols map[string]float64 // shares of the sessions, for those that speak HTTP
}

// A Kind is requests that do the same.
type Kind struct {
	Name             string
	Requests         int
	Failed           int
	Sent, Received   int64         // bytes, P50
	FirstByte        time.Duration // P50 of the time to the first byte, which is no round trip
	Took             time.Duration // P50
	Parallel         int           // the most requests of it that overlap in a session
	Gaps             int           // how often a session paused before it
	Thinking, Longer time.Duration // P50 and P95 of the pauses
}

// A Transition is from one state of a session to the next.
type Transition struct {
	From, To string
	Count    int
	Share    float64 // of those from From
}

// Begin and End are the states before and after all others.
const (
	Begin = "begin"
	End   = "end"
)

// A state is requests of a kind that a session made at once.
type state struct {
	kind  string
	nth   int // how many states of the kind the session had before
	calls []*Request
	at    time.Time
	end   time.Time
	gap   time.Duration // since all states before had ended
}

// Learn returns the features of a log.
func Learn(l *Log) (*Features, error) {
	if len(l.Sessions) == 0 {
		return nil, errors.New("the log has no line that can be read: give one as dewload writes it with --requests")
	}
	l.order()
	f := &Features{Sessions: len(l.Sessions), Protocols: map[string]float64{}, protocols: map[string]float64{}}
	f.arrivals(l)
	kinds := map[string][]*Request{}
	parallel := map[string]int{}
	http := 0.0
	for _, s := range l.Sessions {
		f.sessions = append(f.sessions, states(s))
		spoken := ""
		byKind := map[string][]*Request{}
		for _, r := range s {
			f.Requests++
			f.Protocols[r.Protocol]++
			k := kindOf(r)
			kinds[k] = append(kinds[k], r)
			byKind[k] = append(byKind[k], r)
			if spoken == "" && (r.Protocol == http1 || r.Protocol == h2c || r.Protocol == h2) {
				spoken = r.Protocol
			}
		}
		for k, requests := range byKind {
			parallel[k] = max(parallel[k], overlap(requests))
		}
		if spoken != "" {
			f.protocols[spoken]++
			http++
		}
	}
	for p := range f.Protocols {
		f.Protocols[p] /= float64(f.Requests)
	}
	for p := range f.protocols {
		f.protocols[p] /= http
	}
	f.kinds(kinds, parallel)
	f.transitions()
	return f, nil
}

// arrivals looks at when sessions begin.
func (f *Features) arrivals(l *Log) {
	var gaps []float64
	for i := 1; i < len(l.Sessions); i++ {
		gaps = append(gaps, l.Sessions[i][0].At.Sub(l.Sessions[i-1][0].At).Seconds())
	}
	if len(gaps) == 0 {
		return
	}
	sum, squares := 0.0, 0.0
	for _, g := range gaps {
		sum += g
	}
	mean := sum / float64(len(gaps))
	for _, g := range gaps {
		squares += (g - mean) * (g - mean)
	}
	f.Span = time.Duration(sum * 1e9)
	if mean > 0 {
		f.Rate = 1 / mean
		f.Variation = math.Sqrt(squares/float64(len(gaps))) / mean
	}
}

// kindOf names what a request does: by its step if the log has steps, and otherwise by its method
// and its path without ids.
func kindOf(r *Request) string {
	if r.Step != "" {
		return r.Step
	}
	path, _, _ := strings.Cut(r.Path, "?")
	segments := strings.Split(path, "/")
	for i, s := range segments {
		if isID(s) {
			segments[i] = "*"
		}
	}
	path = strings.Join(segments, "/")
	switch r.Protocol {
	case grpc:
		return strings.TrimPrefix(path, "/")
	case webSocket:
		return "websocket " + path
	}
	return r.Method + " " + path
}

// isID reports whether a part of a path stands for one of many: it has a digit, and is no version
// such as v1.
func isID(s string) bool {
	version := len(s) > 1 && s[0] == 'v' && strings.IndexFunc(s[1:], func(r rune) bool { return !unicode.IsDigit(r) }) < 0
	return !version && strings.ContainsFunc(s, unicode.IsDigit)
}

// states puts requests of a kind that overlap together.
func states(requests []*Request) []*state {
	var all []*state
	count := map[string]int{}
	var ended time.Time
	for i, r := range requests {
		k := kindOf(r)
		if s := running(all, k, r.At); s != nil {
			s.calls = append(s.calls, r)
			s.end = later(s.end, r.End)
		} else {
			s := &state{kind: k, nth: count[k], calls: []*Request{r}, at: r.At, end: r.End}
			if i > 0 {
				s.gap = max(0, r.At.Sub(ended))
			}
			count[k]++
			all = append(all, s)
		}
		ended = later(ended, r.End)
	}
	return all
}

func running(all []*state, kind string, at time.Time) *state {
	for _, s := range slices.Backward(all) {
		if s.kind == kind && (s.end.After(at) || s.at.Equal(at)) {
			return s
		}
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

// overlap returns how many of the requests there were at once at most. They are in order.
func overlap(requests []*Request) int {
	most := 0
	for _, r := range requests {
		now := 0
		for _, o := range requests {
			if o.At.Equal(r.At) || o.At.Before(r.At) && o.End.After(r.At) {
				now++
			}
		}
		most = max(most, now)
	}
	return most
}

func (f *Features) kinds(requests map[string][]*Request, parallel map[string]int) {
	gaps, places, states := map[string][]time.Duration{}, map[string]float64{}, map[string]float64{}
	for _, session := range f.sessions {
		for i, s := range session {
			places[s.kind] += float64(i)
			states[s.kind]++
			if i > 0 {
				gaps[s.kind] = append(gaps[s.kind], s.gap)
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(requests), func(a, b string) int {
		return compare(places[a]/states[a], places[b]/states[b], a, b)
	})
	for _, name := range names {
		k := Kind{Name: name, Requests: len(requests[name]), Parallel: parallel[name], Gaps: len(gaps[name])}
		var sent, received []int64
		var first, took []time.Duration
		for _, r := range requests[name] {
			if r.Failed {
				k.Failed++
			}
			sent, received = append(sent, r.Sent), append(received, r.Received)
			first, took = append(first, r.First), append(took, r.End.Sub(r.At))
		}
		k.Sent, k.Received = sortedQuantile(sent, 0.5), sortedQuantile(received, 0.5)
		k.FirstByte, k.Took = sortedQuantile(first, 0.5), sortedQuantile(took, 0.5)
		k.Thinking, k.Longer = sortedQuantile(gaps[name], 0.5), sortedQuantile(gaps[name], 0.95)
		f.Kinds = append(f.Kinds, k)
	}
}

func compare(a, b float64, nameA, nameB string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return strings.Compare(nameA, nameB)
}

// sortedQuantile sorts values and returns the one that a share p of them does not exceed; 0 if there
// are none.
func sortedQuantile[T int | int64 | time.Duration](values []T, p float64) T {
	slices.Sort(values)
	return quantile.Of(values, p)
}

func (f *Features) transitions() {
	type pair struct{ from, to string }
	counts, from := map[pair]int{}, map[string]int{}
	for _, session := range f.sessions {
		before := Begin
		for _, s := range session {
			counts[pair{before, s.kind}]++
			from[before]++
			before = s.kind
		}
		counts[pair{before, End}]++
		from[before]++
	}
	place := map[string]int{Begin: -1}
	for i, k := range f.Kinds {
		place[k.Name] = i
	}
	for p, n := range counts {
		f.Transitions = append(f.Transitions, Transition{p.from, p.to, n, float64(n) / float64(from[p.from])})
	}
	slices.SortFunc(f.Transitions, func(a, b Transition) int {
		if a.From != b.From {
			return place[a.From] - place[b.From]
		}
		return compare(-a.Share, -b.Share, a.To, b.To)
	})
}
