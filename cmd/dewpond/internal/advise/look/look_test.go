package look

import (
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/memstats"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/metricsample"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/source"
)

// What the runtime says of the time since the start is told of the window, if the start is known: from
// the first collections, while the runtime has them, or as the program says.
func TestFraction(t *testing.T) {
	start := time.Unix(1000, 0)
	at := func(seconds int64) time.Time { return start.Add(time.Duration(seconds) * time.Second) }
	// In 1000 s the collector took 100 s of a processor's, and in 30 s of the window another 9 s.
	stats := func(collections uint64, oldest time.Time) []*memstats.Stats {
		return []*memstats.Stats{
			{NumGC: collections, LastGC: at(1000), OldestGC: oldest, GCCPUFraction: 0.1},
			{NumGC: collections + 60, LastGC: at(1030), OldestGC: oldest.Add(time.Second), GCCPUFraction: 109.0 / 1030},
		}
	}
	for name, of := range map[string]struct {
		all   []*memstats.Stats
		began time.Time
		want  float64 // NaN: it cannot be told
	}{
		"all collections remembered":       {stats(100, start), time.Time{}, 0.3},
		"those of the first look":          {stats(250, start), time.Time{}, 0.3},
		"too many":                         {stats(5000, at(900)), time.Time{}, math.NaN()},
		"too many, but the start is known": {stats(5000, at(900)), start, 0.3},
		"a start after the window":         {stats(5000, at(900)), at(2000), math.NaN()},
		"none before the window":           {[]*memstats.Stats{{}, {NumGC: 6, LastGC: at(30), OldestGC: start, GCCPUFraction: 0.25}}, time.Time{}, 0.25},
	} {
		share := fraction(of.all, of.began)
		if share.Known() == math.IsNaN(of.want) || share.Known() && math.Abs(share.Mid-of.want) > 1e-9 {
			t.Errorf("%s: %v, want %v", name, share, of.want)
		}
		if !share.Known() && !strings.Contains(share.Why, "give a CPU profile") {
			t.Errorf("%s: %q does not say what to do", name, share.Why)
		}
	}
}

// Of two pages each may have what the other lacks.
func TestPage(t *testing.T) {
	const (
		prometheus = "go_memstats_alloc_bytes_total 1e9\ngo_memstats_next_gc_bytes 1e8\ngo_gc_duration_seconds_count 20\nprocess_start_time_seconds 1.7e+09\n"
		expvar     = `{"cmdline": ["x"], "runtime/metrics": {"time": "2026-11-25T10:00:00Z", "/gc/heap/allocs:bytes": 1000000000, "/gc/heap/goal:bytes": 100000000,
			"/gc/cycles/automatic:gc-cycles": 20, "/cpu/classes/gc/total:cpu-seconds": 7, "/cpu/classes/gc/mark/idle:cpu-seconds": 1}}`
	)
	for name, of := range map[string]struct {
		metrics, vars string
		began         bool
		seconds       float64 // of the collector; 0: not known
	}{
		"both":            {prometheus, expvar, true, 7},
		"Prometheus's":    {prometheus, "", true, 0},
		"expvar's":        {"", expvar, false, 7},
		"none":            {"", "", false, 0},
		"another program": {"up 1\n", "{}", false, 0},
	} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch text := map[string]string{"/metrics": of.metrics, "/debug/vars": of.vars}[r.URL.Path]; text {
			case "":
				http.NotFound(w, r)
			default:
				fmt.Fprint(w, text)
			}
		}))
		p, err := source.At(server.URL)
		if err != nil {
			t.Fatal(err)
		}
		l := new(Look)
		l.page(t.Context(), p)
		server.Close()
		if !of.began && of.seconds == 0 {
			if len(l.Samples) > 0 {
				t.Errorf("%s: %+v", name, l.Samples[0])
			}
			continue
		}
		if len(l.Samples) != 1 {
			t.Errorf("%s: %d samples", name, len(l.Samples))
			continue
		}
		if s := l.Samples[0]; s.Began.IsZero() == of.began || s.Values[metricsample.Collector] != of.seconds || s.At.IsZero() {
			t.Errorf("%s: %+v", name, s)
		}
	}
}
