// Package pools reads what a program serves of its metrics: the counters of its pools, and its settings of
// the collector.
package pools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/prometheus"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// A Page is what a program's metrics say at one time.
type Page struct {
	Pools map[string]*Pool

	GOGC, Limit *float64 // nil if they are not there; a Limit of MaxInt64 is none
}

// A Pool has the counters of a pool since it was made.
type Pool struct {
	Hits, Misses      map[int]float64 // by class
	Dropped           map[string]float64
	Oversize, Refused float64
	Idle, InUse       float64 // bytes

	sampled map[string]histogram // by metric; nil: the pool is not in checked mode
}

// ErrNone means that a page has neither.
var ErrNone = errors.New("no metrics of dewpond or of the runtime")

// Read reads the JSON of /debug/vars, or the text of Prometheus.
func Read(page []byte) (*Page, error) {
	p := &Page{Pools: map[string]*Pool{}}
	if bytes.HasPrefix(bytes.TrimSpace(page), []byte("{")) {
		return p, p.vars(page)
	}
	return p, p.text(string(page))
}

// vars reads what contrib/dewexpvar publishes.
func (p *Page) vars(page []byte) error {
	var vars struct {
		Dewpond *struct{ Pools map[string]map[string]any }
	}
	if err := json.Unmarshal(page, &vars); err != nil {
		return err
	}
	if vars.Dewpond == nil {
		return ErrNone
	}
	for name, metrics := range vars.Dewpond.Pools {
		for metric, v := range metrics {
			p.nested(metric, name, nil, v)
		}
	}
	return nil
}

// nested adds a number, or those of nested objects, whose keys are the labels.
func (p *Page) nested(metric, pool string, labels []string, v any) {
	switch v := v.(type) {
	case float64:
		if isSampled(metric) && len(labels) == 1 {
			p.addSampled(metric, pool, labels[0], v)
			return
		}
		class, last := 0, ""
		for _, label := range labels {
			if n, err := strconv.Atoi(label); err == nil {
				class = n
			} else {
				last = label
			}
		}
		p.add(metric, pool, class, last, v)
	case map[string]any:
		for key, below := range v {
			p.nested(metric, pool, append(labels[:len(labels):len(labels)], key), below)
		}
	}
}

// text reads Prometheus's format.
func (p *Page) text(page string) error {
	found := false
	for line := range strings.Lines(page) {
		line = strings.TrimSpace(line)
		rest, ours := strings.CutPrefix(line, "dewpond_")
		if !ours && !strings.HasPrefix(line, "go_gc_go") {
			continue
		}
		name, labels, v, err := prometheus.Line(rest)
		if err != nil {
			return fmt.Errorf("%.100q is not a line of Prometheus's text format", line)
		}
		found = true
		switch {
		case name == "go_gc_gogc_percent":
			p.GOGC = &v
		case name == "go_gc_gomemlimit_bytes":
			p.Limit = &v
		case labels["le"] != "":
			if metric := strings.TrimSuffix(name, "_bucket"); isSampled(metric) {
				p.addSampled(metric, labels["pool"], labels["le"], v)
			}
		case labels["pool"] != "":
			class, _ := strconv.Atoi(labels["class"])
			p.add(name, labels["pool"], class, labels["result"]+labels["state"]+labels["reason"], v)
		}
	}
	if !found {
		return ErrNone
	}
	return nil
}

// pool returns what the page says of a pool.
func (p *Page) pool(name string) *Pool {
	of := p.Pools[name]
	if of == nil {
		of = &Pool{Hits: map[int]float64{}, Misses: map[int]float64{}, Dropped: map[string]float64{}}
		p.Pools[name] = of
	}
	return of
}

func (p *Page) add(metric, pool string, class int, label string, v float64) {
	if math.IsNaN(v) {
		return
	}
	to := p.pool(pool)
	switch {
	case metric == "gets_total" && label == "hit":
		to.Hits[class] += v
	case metric == "gets_total" && label == "miss":
		to.Misses[class] += v
	case metric == "puts_dropped_total":
		to.Dropped[label] += v
	case metric == "gets_oversize_total":
		to.Oversize += v
	case metric == "gets_refused_total":
		to.Refused += v
	case metric == "bytes" && label == "idle":
		to.Idle = v
	case metric == "bytes" && label == "used":
		to.InUse = v
	}
}

// Seen is what was seen of a pool in a window.
type Seen struct {
	Name     string    `json:"name"`
	Gets     float64   `json:"gets"` // in the window, as hits and drops are
	Hits     float64   `json:"hits"`
	Dropped  float64   `json:"dropped"` // Puts that it has not kept
	Idle     float64   `json:"idle_bytes"`
	InUse    float64   `json:"in_use_bytes"`
	Sampled  *Sampled  `json:"sampled,omitempty"` // nil: the pool is not in checked mode
	Findings []Finding `json:"findings"`
}

// A Finding is what is wrong with a pool, and the option that changes it.
type Finding struct {
	Finding string `json:"finding"`
	Option  string `json:"option"`
}

// Traffic below which a hit rate says nothing, and the rate that a pool should have.
const (
	leastGets = 1000
	leastHits = 0.9
)

// Between returns what was seen of the pools between two pages of one program.
func Between(before, after *Page) []Seen {
	var all []Seen
	for _, name := range slices.Sorted(maps.Keys(after.Pools)) {
		then := before.Pools[name]
		if then == nil {
			then = &Pool{}
		}
		s := Seen{Name: name, Findings: []Finding{}}
		s.compare(then, after.Pools[name])
		all = append(all, s)
	}
	return all
}

// compare says what is wrong with one pool. A counter that has fallen is of a pool that was made anew,
// and says nothing.
func (s *Seen) compare(then, now *Pool) {
	add := func(option, format string, a ...any) {
		s.Findings = append(s.Findings, Finding{fmt.Sprintf(format, a...), option})
	}
	grown := func(after, before float64) float64 { return max(0, after-before) }
	full := grown(now.Dropped["full"], then.Dropped["full"])
	var pinned []string
	for _, class := range slices.Sorted(maps.Keys(now.Misses)) {
		misses := grown(now.Misses[class], then.Misses[class])
		s.Gets += misses
		if misses > 0 && full > 0 {
			pinned = append(pinned, strconv.Itoa(class))
		}
	}
	for class := range now.Hits {
		s.Hits += grown(now.Hits[class], then.Hits[class])
	}
	for reason := range now.Dropped {
		s.Dropped += grown(now.Dropped[reason], then.Dropped[reason])
	}
	s.Gets += s.Hits
	s.Idle, s.InUse = now.Idle, now.InUse
	s.Sampled = sampledBetween(then, now)

	switch bound := "MaxIdleBytes, MaxIdlePerClass, or MaxIdle of a Pool: as much as is in use at the peak"; {
	case len(pinned) > 0:
		add(bound, "it drops %s blocks as full, and allocates in class %s meanwhile: it is at its bound", figure.Count(full), strings.Join(pinned, ", "))
	case full > 0:
		add(bound, "it drops %s blocks as full", figure.Count(full))
	}
	if foreign := grown(now.Dropped["foreign"], then.Dropped["foreign"]); foreign > 0 {
		add("none: use Grow, Append or a BodyPool where a slice grows past its cap, and Adopt for what others have made", "%s Puts of what is no block of it", figure.Count(foreign))
	}
	if oversize := grown(now.Oversize, then.Oversize); oversize > 0 {
		add("Classes: with a class for the largest", "%s Gets above its largest class, which it does not keep", figure.Count(oversize))
	}
	if refused := grown(now.Refused, then.Refused); refused > 0 {
		add("AllocRate, MaxOut or Budget: as high as the memory allows", "it has refused %s times", figure.Count(refused))
	}
	if s.Gets >= leastGets && s.Hits < leastHits*s.Gets && len(pinned) == 0 {
		add("IdleTimeout: longer than the time between two bursts; and see that each Get has its Put", "%s of %s Gets were hits", figure.Percent(s.Hits/s.Gets), figure.Count(s.Gets))
	}
}
