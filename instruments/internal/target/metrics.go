package target

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"mime"
	"net/http"
	"slices"
	"strings"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// A Sample is what a target's metrics were at one moment, by name. Those that only grow are
// counters, of which a rate is shown.
type Sample map[string]Value

// A Value is one metric, summed over its labels.
type Value struct {
	Now     float64
	Counter bool
}

// mostMetrics is how many bytes of metrics are read at most.
const mostMetrics = 8 << 20

// Scrape reads the metrics at a URL: Prometheus's text format, or expvar's JSON. It keeps what
// reports show: collections, heap, goroutines, and waits for pools.
func Scrape(ctx context.Context, client *http.Client, url string) (Sample, error) {
	q, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	q.Header.Set("Accept", "text/plain;version=0.0.4")
	answer, err := client.Do(q)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s: status %d", url, answer.StatusCode)
	}
	body := io.LimitReader(answer.Body, mostMetrics)
	if kind, _, _ := mime.ParseMediaType(answer.Header.Get("Content-Type")); kind == "application/json" {
		return readExpvar(body)
	}
	return readPrometheus(body)
}

func readPrometheus(from io.Reader) (Sample, error) {
	parser := expfmt.NewTextParser(model.UTF8Validation)
	families, err := parser.TextToMetricFamilies(from)
	if err != nil {
		return nil, fmt.Errorf("no metrics of Prometheus: %w", err)
	}
	s := Sample{}
	for _, name := range slices.Sorted(maps.Keys(families)) {
		f := families[name]
		shown := shownName(name)
		if shown == "" {
			continue
		}
		v := Value{Counter: f.GetType() != dto.MetricType_GAUGE && f.GetType() != dto.MetricType_UNTYPED}
		for _, m := range f.Metric {
			v.Now += number(m)
		}
		s.keep(shown, v)
	}
	return s, nil
}

// number returns a metric's value; of a summary or a histogram, how often something was observed.
func number(m *dto.Metric) float64 {
	switch {
	case m.Gauge != nil:
		return m.Gauge.GetValue()
	case m.Counter != nil:
		return m.Counter.GetValue()
	case m.Untyped != nil:
		return m.Untyped.GetValue()
	case m.Summary != nil:
		return float64(m.Summary.GetSampleCount())
	case m.Histogram != nil:
		return float64(m.Histogram.GetSampleCount())
	}
	return 0
}

func (s Sample) keep(name string, v Value) {
	if !math.IsNaN(v.Now) && !math.IsInf(v.Now, 0) {
		s[name] = v
	}
}

// The names that reports have for what Go programs publish.
const (
	Collections = "collections"
	Heap        = "heap bytes"
	Goroutines  = "goroutines"
)

var names = map[string]string{
	"go_gc_duration_seconds":                     Collections, // its observations
	"go_gc_cycles_total_gc_cycles_total":         Collections,
	"go_memstats_heap_alloc_bytes":               Heap,
	"go_memory_classes_heap_objects_bytes":       Heap,
	"go_goroutines":                              Goroutines,
	"go_sched_goroutines_goroutines":             Goroutines,
	"memstats.NumGC":                             Collections,
	"memstats.HeapAlloc":                         Heap,
	"goroutines":                                 Goroutines,
	"runtime./gc/cycles/total:gc-cycles":         Collections,
	"runtime./memory/classes/heap/objects:bytes": Heap,
	"runtime./sched/goroutines:goroutines":       Goroutines,
}

// shownName returns what reports call a metric, or nothing if they leave it out.
func shownName(name string) string {
	if shown := names[name]; shown != "" {
		return shown
	}
	if lower := strings.ToLower(name); strings.Contains(lower, "wait") && !strings.Contains(lower, "mutex_wait") {
		return name
	}
	return ""
}

func readExpvar(from io.Reader) (Sample, error) {
	var document map[string]any
	if err := json.NewDecoder(from).Decode(&document); err != nil {
		return nil, fmt.Errorf("no metrics of expvar: %w", err)
	}
	s := Sample{}
	s.flatten("", document)
	return s, nil
}

// flatten keeps the numbers of an object. expvar does not say what grows: collections and waits
// do.
func (s Sample) flatten(at string, v any) {
	switch v := v.(type) {
	case map[string]any:
		for key, e := range v {
			name := key
			if at != "" {
				name = at + "." + key
			}
			s.flatten(name, e)
		}
	case float64:
		if shown := shownName(at); shown != "" {
			s.keep(shown, Value{Now: v, Counter: shown != Heap && shown != Goroutines})
		}
	}
}

// A Series is one metric over time.
type Series struct {
	Name string
	Rate bool // of a counter, a second
	// At is when, in seconds since the run began; Values are those of the same index.
	At, Values []float64
}

// A Scraper scrapes a target's metrics.
type Scraper struct {
	url    string
	client *http.Client
	at     []time.Time
	taken  []Sample
	failed int
	err    error // the last
}

// NewScraper returns a scraper of a URL. It returns an error if the first try fails.
func NewScraper(ctx context.Context, client *http.Client, url string) (*Scraper, error) {
	s := &Scraper{url: url, client: client}
	first, err := Scrape(ctx, client, url)
	if err != nil {
		return nil, fmt.Errorf("--metrics: %w", err)
	}
	if len(first) == 0 {
		return nil, errors.New("--metrics: it has no collections, heap, goroutines or waits: give the URL of Prometheus's text format or of expvar")
	}
	s.at, s.taken = []time.Time{time.Now()}, []Sample{first} // what the first rates begin from
	return s, nil
}

// Scrape scrapes once. It is called from one goroutine.
func (s *Scraper) Scrape(ctx context.Context) {
	sample, err := Scrape(ctx, s.client, s.url)
	if err != nil {
		if ctx.Err() == nil {
			s.failed, s.err = s.failed+1, err
		}
		return
	}
	s.at = append(s.at, time.Now())
	s.taken = append(s.taken, sample)
}

// Failed returns how many scrapes failed, and why the last of them did.
func (s *Scraper) Failed() (int, error) { return s.failed, s.err }

// Series returns what was scraped, from start on.
func (s *Scraper) Series(start time.Time) []Series {
	all := map[string]*Series{}
	for i, sample := range s.taken {
		for name, v := range sample {
			one := all[name]
			if one == nil {
				one = &Series{Name: name, Rate: v.Counter}
				all[name] = one
			}
			value := v.Now
			if v.Counter {
				if i == 0 {
					continue
				}
				before, ok := s.taken[i-1][name]
				if !ok || before.Now > v.Now { // the target began anew
					continue
				}
				value = (v.Now - before.Now) / s.at[i].Sub(s.at[i-1]).Seconds()
			}
			if s.at[i].Before(start) {
				continue
			}
			one.At = append(one.At, s.at[i].Sub(start).Seconds())
			one.Values = append(one.Values, value)
		}
	}
	var out []Series
	for _, name := range slices.Sorted(maps.Keys(all)) {
		if len(all[name].At) > 0 {
			out = append(out, *all[name])
		}
	}
	return out
}
