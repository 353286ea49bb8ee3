// Package metricsample reads what a process says of its own collector: the metrics of runtime/metrics,
// as one of four pages or files has them.
//
//   - a JSON object whose keys are the names of runtime/metrics, or the one within /debug/vars that is so;
//   - Prometheus's text, of the Go collector of its client;
//   - /debug/vars, whose memstats every program with expvar has;
//   - /debug/pprof/heap?debug=1, whose last lines are the same.
//
// The last two have neither GOGC nor the limit, nor the live heap, nor the collector's processor time.
package metricsample

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/memstats"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/prometheus"
)

// The metrics that are used, by their names in runtime/metrics.
const (
	Allocs    = "/gc/heap/allocs:bytes"
	Automatic = "/gc/cycles/automatic:gc-cycles"
	Forced    = "/gc/cycles/forced:gc-cycles"
	Cycles    = "/gc/cycles/total:gc-cycles"
	LiveHeap  = "/gc/heap/live:bytes"
	Goal      = "/gc/heap/goal:bytes"
	Stacks    = "/gc/scan/stack:bytes"
	Globals   = "/gc/scan/globals:bytes"
	GOGC      = "/gc/gogc:percent"
	Limit     = "/gc/gomemlimit:bytes"
	Total     = "/memory/classes/total:bytes"
	Released  = "/memory/classes/heap/released:bytes"
	Free      = "/memory/classes/heap/free:bytes"
	Objects   = "/memory/classes/heap/objects:bytes"
	Procs     = "/sched/gomaxprocs:threads"
	Collector = "/cpu/classes/gc/total:cpu-seconds"
	Idle      = "/cpu/classes/gc/mark/idle:cpu-seconds"
	User      = "/cpu/classes/user:cpu-seconds"
	Scavenge  = "/cpu/classes/scavenge/total:cpu-seconds"
)

// Names are the metrics that are used, in the order in which they are listed.
var Names = []string{Allocs, Automatic, Forced, Cycles, LiveHeap, Goal, Stacks, Globals, GOGC, Limit, Total, Released, Free, Objects, Procs, Collector, Idle, User, Scavenge}

// A Sample is what a process said at one moment.
type Sample struct {
	At     time.Time          // when; the zero time if it does not say
	From   string             // what it was read from, such as "runtime/metrics"
	Values map[string]float64 // by the names of runtime/metrics; only those that are in it
	RSS    float64            // resident bytes; 0 if it does not say
	Of     string             // the program's command line, if it says; two samples of one process have the same
	Began  time.Time          // when the process started, if it says
}

// has reports whether a sample has all of some metrics.
func (s *Sample) has(names ...string) bool {
	for _, name := range names {
		if _, ok := s.Values[name]; !ok {
			return false
		}
	}
	return true
}

// Errors of pages and files.
var (
	ErrHTML = errors.New("it is a page for people, HTML: give the address of /debug/vars, /metrics or /debug/pprof")
	ErrNone = errors.New("it has no metrics of the Go runtime: give the JSON of runtime/metrics, /debug/vars, Prometheus's text of a Go program, or what /debug/pprof/heap?debug=1 answers")
)

// Parse reads a page or a file.
func Parse(text []byte) (*Sample, error) {
	start := bytes.TrimSpace(text)
	switch {
	case bytes.HasPrefix(start, []byte(memstats.Prefix)):
		stats, err := memstats.Read(bytes.NewReader(start))
		if err != nil {
			return nil, err
		}
		return ofMemStats(stats), nil
	case bytes.HasPrefix(start, []byte("{")):
		return parseJSON(start)
	case bytes.HasPrefix(start, []byte("<")):
		return nil, ErrHTML
	}
	return parsePrometheus(string(start))
}

func ofMemStats(m *memstats.Stats) *Sample {
	s := &Sample{From: "runtime.MemStats", Values: map[string]float64{
		Allocs: float64(m.TotalAlloc), Goal: float64(m.NextGC), Cycles: float64(m.NumGC), Forced: float64(m.NumForcedGC),
		Total: float64(m.Sys), Released: float64(m.HeapReleased), Free: float64(m.HeapIdle) - float64(m.HeapReleased), Objects: float64(m.HeapAlloc),
		Stacks: float64(m.StackInuse),
	}}
	s.finish()
	return s
}

// finish adds what follows from other metrics.
func (s *Sample) finish() {
	if !s.has(Automatic) && s.has(Cycles, Forced) {
		s.Values[Automatic] = s.Values[Cycles] - s.Values[Forced]
	}
}

// parseJSON reads an object of runtime/metrics' names, or of expvar's variables.
func parseJSON(text []byte) (*Sample, error) {
	var vars map[string]json.RawMessage
	if err := json.Unmarshal(text, &vars); err != nil {
		return nil, fmt.Errorf("the JSON is not whole: %w", err)
	}
	of := string(vars["cmdline"])
	if s := metricsOf(vars); s != nil {
		s.Of = of
		return s, nil
	}
	for _, value := range vars {
		var within map[string]json.RawMessage
		if json.Unmarshal(value, &within) != nil {
			continue
		}
		if s := metricsOf(within); s != nil {
			s.Of = of
			return s, nil
		}
	}
	var m struct {
		TotalAlloc, NextGC, NumGC, NumForcedGC, Sys, HeapReleased, HeapIdle, HeapAlloc, StackInuse *float64
	}
	if json.Unmarshal(vars["memstats"], &m) != nil || m.TotalAlloc == nil {
		return nil, ErrNone
	}
	s := &Sample{From: "runtime.MemStats", Of: of, Values: map[string]float64{}}
	for name, v := range map[string]*float64{Allocs: m.TotalAlloc, Goal: m.NextGC, Cycles: m.NumGC, Forced: m.NumForcedGC, Total: m.Sys, Released: m.HeapReleased, Objects: m.HeapAlloc, Stacks: m.StackInuse} {
		if v != nil {
			s.Values[name] = *v
		}
	}
	if m.HeapIdle != nil && m.HeapReleased != nil {
		s.Values[Free] = *m.HeapIdle - *m.HeapReleased
	}
	s.finish()
	return s, nil
}

// metricsOf reads an object whose keys are names of runtime/metrics, with "time" beside them, as RFC 3339 has
// it or in seconds since 1970. It returns nil if it is none.
func metricsOf(object map[string]json.RawMessage) *Sample {
	s := &Sample{From: "runtime/metrics", Values: map[string]float64{}}
	for _, name := range Names {
		var v float64
		if json.Unmarshal(object[name], &v) == nil {
			s.Values[name] = v
		}
	}
	if !s.has(Allocs, Goal) {
		return nil
	}
	var seconds float64
	if json.Unmarshal(object["time"], &s.At) != nil && json.Unmarshal(object["time"], &seconds) == nil {
		s.At = fromSeconds(seconds)
	}
	json.Unmarshal(object["resident_bytes"], &s.RSS)
	s.finish()
	return s
}

// fromSeconds returns the moment of a time in seconds since 1970, or the zero time of none.
func fromSeconds(seconds float64) time.Time {
	if !(seconds > 0 && seconds < 1e11) {
		return time.Time{}
	}
	return time.Unix(0, int64(math.Round(seconds*1e9)))
}

// older are names of Prometheus's client that are not made from those of runtime/metrics.
var older = map[string]string{
	"go_memstats_alloc_bytes_total": Allocs, "go_memstats_next_gc_bytes": Goal, "go_gc_duration_seconds_count": Cycles,
	"go_memstats_sys_bytes": Total, "go_memstats_heap_released_bytes": Released, "go_memstats_heap_alloc_bytes": Objects, "go_memstats_stack_inuse_bytes": Stacks,
}

// exported returns the name that Prometheus's client gives a metric of runtime/metrics.
func exported(name string) string {
	path, unit, _ := strings.Cut(name, ":")
	text := "go" + strings.NewReplacer("/", "_", "-", "_").Replace(path) + "_" + strings.ReplaceAll(unit, "-", "_")
	switch name {
	case Allocs, Automatic, Forced, Cycles, Collector, Idle, User, Scavenge: // they only grow
		text += "_total"
	}
	return text
}

// parsePrometheus reads Prometheus's text format.
func parsePrometheus(text string) (*Sample, error) {
	by := map[string]string{}
	for _, name := range Names {
		by[exported(name)] = name
	}
	s := &Sample{From: "Prometheus's text", Values: map[string]float64{}}
	idle, found := math.NaN(), false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "go_") && !strings.HasPrefix(line, "process_") {
			continue
		}
		name, _, v, err := prometheus.Line(line)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return nil, fmt.Errorf("%.80q is not a line of Prometheus's text format", line)
		}
		switch name {
		case "process_resident_memory_bytes":
			s.RSS = v
		case "process_start_time_seconds":
			s.Began = fromSeconds(v)
			s.Of = fmt.Sprint(v)
		case "go_memstats_heap_idle_bytes":
			idle = v
		default:
			if metric := by[name]; metric != "" {
				s.Values[metric] = v
			} else if metric := older[name]; metric != "" && !s.has(metric) {
				s.Values[metric] = v
			} else {
				continue
			}
			found = true
		}
	}
	if !found || !s.has(Allocs, Goal) {
		return nil, ErrNone
	}
	if !s.has(Free) && !math.IsNaN(idle) && s.has(Released) {
		s.Values[Free] = idle - s.Values[Released]
	}
	s.finish()
	if !s.has(Automatic) && s.has(Cycles) {
		s.Values[Automatic] = s.Values[Cycles] // this page does not tell forced collections apart
	}
	return s, nil
}
