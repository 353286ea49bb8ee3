package load

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// Slowest says where the time of the slowest requests went: the means of their parts, in nanoseconds,
// which add up to the mean response.
type Slowest struct {
	Share      float64 `json:"share"` // of all requests: 0.01, 0.001 or 0.0001
	Requests   int     `json:"requests"`
	Response   float64 `json:"response_ns"`
	Lag        float64 `json:"lag_ns"`
	Waiting    float64 `json:"waiting_ns"` // for a connection that was open
	Connecting float64 `json:"connecting_ns"`
	// Phases are those that the target names in Server-Timing, the longest first.
	Phases []Phase `json:"phases,omitempty"`
	Rest   float64 `json:"rest_ns"` // of the service, that no phase has
}

// A Phase is a part of the target's work.
type Phase struct {
	Name string  `json:"name"`
	Mean float64 `json:"mean_ns"` // over the slowest requests, also those that do not have it
}

// How many requests are kept, and how many phases are shown.
const (
	keptSlowest = 20_000
	mostPhases  = 8
)

// slowShares are the parts of all requests that are shown.
var slowShares = []float64{0.01, 0.001, 0.0001}

// A slowCall is what is kept of a request.
type slowCall struct {
	timing
	connecting time.Duration
	phases     []string // as the target sent them
}

// slowest keeps the slowest requests: up to twice as many as it must, so that it rarely sorts.
type slowest struct {
	all   atomic.Int64 // how many there were
	floor atomic.Int64 // what is faster is not kept

	mu    sync.Mutex
	calls []slowCall
}

func (s *slowest) add(c slowCall) {
	s.all.Add(1)
	if int64(c.response) < s.floor.Load() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	if len(s.calls) == 2*keptSlowest {
		s.sort()
		s.calls = slices.Delete(s.calls, keptSlowest, len(s.calls))
		s.floor.Store(int64(s.calls[keptSlowest-1].response))
	}
}

func (s *slowest) sort() {
	slices.SortFunc(s.calls, func(a, b slowCall) int { return cmp.Compare(b.response, a.response) })
}

// split returns the parts of the slowest, where there are ten and all of them were kept.
func (s *slowest) split() []Slowest {
	s.sort()
	var out []Slowest
	for _, share := range slowShares {
		n := int(share * float64(s.all.Load()))
		if n < 10 || n > keptSlowest || n > len(s.calls) {
			continue
		}
		out = append(out, splitOf(share, s.calls[:n]))
	}
	return out
}

func splitOf(share float64, calls []slowCall) Slowest {
	out := Slowest{Share: share, Requests: len(calls)}
	phases := map[string]float64{}
	n := float64(len(calls))
	named := 0.0
	for _, c := range calls {
		out.Response += float64(c.response) / n
		out.Lag += float64(c.lag) / n
		out.Waiting += float64(c.waiting-c.connecting) / n
		out.Connecting += float64(c.connecting) / n
		for name, d := range serverTiming(c.phases) {
			phases[name] += float64(d) / n
			named += float64(d) / n
		}
	}
	// Phases that run beside each other may have more than there is.
	out.Rest = max(0, out.Response-out.Lag-out.Waiting-out.Connecting-named)
	for name, mean := range phases {
		out.Phases = append(out.Phases, Phase{name, mean})
	}
	slices.SortFunc(out.Phases, func(a, b Phase) int {
		return cmp.Or(cmp.Compare(b.Mean, a.Mean), strings.Compare(a.Name, b.Name))
	})
	if len(out.Phases) > mostPhases {
		for _, p := range out.Phases[mostPhases:] {
			out.Rest += p.Mean
		}
		out.Phases = out.Phases[:mostPhases]
	}
	return out
}

// serverTiming reads the header of that name: its metrics that have a duration.
func serverTiming(headers []string) map[string]time.Duration {
	out := map[string]time.Duration{}
	for _, header := range headers {
		for _, metric := range outsideQuotes(header, ',') {
			fields := outsideQuotes(metric, ';')
			name := strings.TrimSpace(fields[0])
			for _, f := range fields[1:] {
				key, value, _ := strings.Cut(strings.TrimSpace(f), "=")
				ms, err := strconv.ParseFloat(strings.Trim(strings.TrimSpace(value), `"`), 64)
				if strings.EqualFold(strings.TrimSpace(key), "dur") && err == nil && name != "" && ms >= 0 && ms < 1e6 {
					out[name] += time.Duration(ms * 1e6)
				}
			}
		}
	}
	return out
}

// outsideQuotes splits a text, but not within quotes.
func outsideQuotes(s string, by rune) []string {
	quoted := false
	return strings.FieldsFunc(s+" ", func(r rune) bool {
		if r == '"' {
			quoted = !quoted
		}
		return r == by && !quoted
	})
}
