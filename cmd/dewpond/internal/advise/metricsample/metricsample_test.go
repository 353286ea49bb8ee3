package metricsample

import (
	"bytes"
	"encoding/json"
	"errors"
	"expvar"
	"fmt"
	"math"
	"net/http/httptest"
	"runtime"
	"runtime/metrics"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pacer"
)

// page returns what this process says in one of the forms that are read.
func page(t testing.TB, form string) string {
	t.Helper()
	all := metrics.All()
	read := make([]metrics.Sample, len(all))
	for i := range all {
		read[i].Name = all[i].Name
	}
	metrics.Read(read)
	values, prom := map[string]any{"time": time.Now()}, "# HELP go_info About Go.\ngo_info{version=\"go1.26\"} 1\nprocess_resident_memory_bytes 5e+07\nprocess_start_time_seconds 1.7e+09\n"
	for i, s := range read {
		var v float64
		switch s.Value.Kind() {
		case metrics.KindUint64:
			v = float64(s.Value.Uint64())
			values[s.Name] = s.Value.Uint64()
		case metrics.KindFloat64:
			v = s.Value.Float64()
			values[s.Name] = v
		default:
			continue
		}
		path, unit, _ := strings.Cut(s.Name, ":")
		name := "go" + strings.NewReplacer("/", "_", "-", "_").Replace(path+"/"+unit)
		if all[i].Cumulative {
			name += "_total"
		}
		prom += fmt.Sprintf("%s %g\n", name, v)
	}
	switch form {
	case "runtime/metrics":
		text, err := json.Marshal(values)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	case "Prometheus's text":
		return prom
	case "heap?debug=1":
		var text bytes.Buffer
		if err := pprof.Lookup("heap").WriteTo(&text, 1); err != nil {
			t.Fatal(err)
		}
		return text.String()
	case "expvar":
		w := httptest.NewRecorder()
		expvar.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/debug/vars", nil))
		return w.Body.String()
	case "runtime/metrics in expvar":
		return `{"cmdline": ["/bin/x"], "other": {"a": 1}, "metrics": ` + page(t, "runtime/metrics") + `}`
	}
	t.Fatal(form)
	return ""
}

var forms = []string{"runtime/metrics", "Prometheus's text", "heap?debug=1", "expvar", "runtime/metrics in expvar"}

// What this Go says in each form is read as this Go says it.
func TestParse(t *testing.T) {
	for _, form := range forms {
		t.Run(form, func(t *testing.T) {
			runtime.GC()
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			s, err := Parse([]byte(page(t, form)))
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&after)
			between := func(name string, low, high uint64) {
				if v := s.Values[name]; v < float64(low) || v > float64(high) {
					t.Errorf("%s is %v, want %d to %d", name, v, low, high)
				}
			}
			between(Allocs, before.TotalAlloc, after.TotalAlloc)
			between(Forced, uint64(before.NumForcedGC), uint64(after.NumForcedGC))
			between(Automatic, uint64(before.NumGC-before.NumForcedGC), uint64(after.NumGC-after.NumForcedGC))
			between(Goal, 4<<20, 1<<40)
			between(Total, before.Sys/2, 2*after.Sys)
			between(Objects, 1, after.TotalAlloc)
			between(Released, 0, after.Sys)
			if full := strings.Contains(form, "metrics") || strings.Contains(form, "Prometheus"); full != s.has(LiveHeap, GOGC, Limit, Procs, Collector, Idle, User, Scavenge, Globals) {
				t.Errorf("%v", s.Values)
			}
			if strings.HasPrefix(form, "runtime/metrics") && time.Since(s.At).Abs() > time.Hour {
				t.Errorf("it is of %v", s.At)
			}
		})
	}
}

func TestParseRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"":                                   "no metrics of the Go runtime",
		"hello":                              "no metrics of the Go runtime",
		"{}":                                 "no metrics of the Go runtime",
		`{"memstats": {}}`:                   "no metrics of the Go runtime",
		`{"memstats": `:                      "the JSON is not whole",
		"<!DOCTYPE html><html></html>":       "HTML",
		"heap profile: 1: 2 [3: 4] @ heap/5": "heap?debug=1",
		"go_memstats_next_gc_bytes what":     "not a line of Prometheus",
		"go_memstats_next_gc_bytes 1":        "no metrics of the Go runtime",
		"go_gc_heap_goal_bytes NaN":          "not a line of Prometheus",
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The metrics of older pages of Prometheus's client are read as well.
func TestOlderPrometheus(t *testing.T) {
	s, err := Parse([]byte("go_memstats_alloc_bytes_total 100\ngo_memstats_next_gc_bytes 50\ngo_gc_duration_seconds_count 7\ngo_memstats_heap_idle_bytes 9\ngo_memstats_heap_released_bytes 4\n"))
	if err != nil || s.Values[Allocs] != 100 || s.Values[Goal] != 50 || s.Values[Automatic] != 7 || s.Values[Free] != 5 {
		t.Errorf("%+v, %v", s, err)
	}
}

// samples are of a process with 50 MB alive and GOGC 100, a second apart.
func samples(n int) []*Sample {
	var all []*Sample
	for i := range n {
		all = append(all, &Sample{From: "test", At: time.Unix(1000+int64(i), 0), Values: map[string]float64{
			Allocs: 1e9 + 500e6*float64(i), Automatic: 20 + 10*float64(i), Forced: 3, Goal: 100e6, LiveHeap: 50e6, GOGC: 100, Limit: math.MaxInt64, Procs: 2,
			Total: 200e6, Released: 50e6, Free: 30e6, Objects: 90e6, Collector: 1 + 0.4*float64(i), Idle: 0.5 + 0.1*float64(i), User: 1 + float64(i), Scavenge: 0.1,
		}})
	}
	return all
}

func TestWindow(t *testing.T) {
	w, err := Window(samples(3), Given{})
	if err != nil {
		t.Fatal(err)
	}
	if w.Seconds != 2 || w.Collections != 20 || w.Forced != 0 || w.Allocated.Mid != 1e9 || w.Goal.Mid != 100e6 || w.Live().Mid != 50e6 || w.Outside.Mid != 30e6 ||
		math.Abs(w.Collector.Mid-0.6) > 1e-9 || math.Abs(w.Used.Mid-2.6) > 1e-9 || w.Setting != (pacer.Setting{GOGC: 100}) || !w.Known || w.Procs != 2 {
		t.Errorf("%+v", w)
	}
	gogc, limit := int64(pacer.Off), int64(1e9)
	if w, err := Window(samples(2), Given{&gogc, &limit}); err != nil || w.Setting != (pacer.Setting{GOGC: pacer.Off, Limit: 1e9}) {
		t.Errorf("%+v, %v", w, err)
	}
	off := samples(2)
	off[1].Values[GOGC], off[1].Values[Limit] = math.MaxUint64, 5e8
	if w, err := Window(off, Given{}); err != nil || w.Setting != (pacer.Setting{GOGC: pacer.Off, Limit: 5e8}) || !w.Known {
		t.Errorf("%+v, %v", w, err)
	}
}

// Of a page without the live heap and GOGC, both follow from the goal and from what is allocated between
// collections, or the live heap from a GOGC that is given.
func TestWindowOfMemStats(t *testing.T) {
	less := func() []*Sample {
		all := samples(2)
		for _, s := range all {
			for _, name := range []string{LiveHeap, GOGC, Limit, Procs, Collector, Idle, User, Scavenge} {
				delete(s.Values, name)
			}
		}
		return all
	}
	w, err := Window(less(), Given{})
	if err != nil || w.Setting.GOGC != 100 || w.Known || math.Abs(w.Live().Mid-50e6) > 1e6 || w.Collector.Known() || w.Used.Known() {
		t.Errorf("%+v, %v", w, err)
	}
	// A process that has 100 was guessed to have 75 to 116, by when marking ended.
	for between, gogc := range map[float64]int64{41.2e6: 100, 51.5e6: 100, 64e6: 200, 12e6: 14} {
		all := less()
		all[1].Values[Allocs] = all[0].Values[Allocs] + 10*between
		if w, err := Window(all, Given{}); err != nil || w.Setting.GOGC != gogc || w.Known {
			t.Errorf("%g bytes between two collections: %+v, %v, want GOGC %d", between, w, err, gogc)
		}
	}
	for gogc, live := range map[int64]float64{100: 50e6, 300: 25e6, pacer.Off: 50e6} {
		if w, err := Window(less(), Given{GOGC: &gogc}); err != nil || math.Abs(w.Live().Mid-live) > 1e3 {
			t.Errorf("GOGC %d: %+v, %v", gogc, w, err)
		}
	}
}

func TestWindowRefuses(t *testing.T) {
	for name, of := range map[string]struct {
		change func([]*Sample) []*Sample
		want   error
	}{
		"one":            {func(s []*Sample) []*Sample { return s[:1] }, ErrOne},
		"order":          {func(s []*Sample) []*Sample { return []*Sample{s[1], s[0]} }, ErrOrder},
		"anew":           {func(s []*Sample) []*Sample { s[1].Values[Allocs] = 5; return s }, ErrOrder},
		"time":           {func(s []*Sample) []*Sample { s[1].At = s[0].At; return s }, ErrOrder},
		"program":        {func(s []*Sample) []*Sample { s[1].Of = "other"; return s }, ErrProgram},
		"moment":         {func(s []*Sample) []*Sample { s[0].At = time.Time{}; return s }, ErrMoment},
		"no collections": {func(s []*Sample) []*Sample { s[1].Values[Automatic] = s[0].Values[Automatic]; return s }, ErrNothing},
	} {
		if _, err := Window(of.change(samples(2)), Given{}); !errors.Is(err, of.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	without := samples(2)
	delete(without[1].Values, Goal)
	if _, err := Window(without, Given{}); err == nil || !strings.Contains(err.Error(), "sample 2 lacks") {
		t.Errorf("without a goal: %v", err)
	}
}

func FuzzParse(f *testing.F) {
	for _, form := range forms {
		f.Add([]byte(page(f, form)))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		if (s == nil) == (err == nil) {
			t.Fatalf("%v and %v", s, err)
		}
		if s == nil {
			return
		}
		later := &Sample{At: s.At.Add(time.Second), From: s.From, Of: s.Of, Values: map[string]float64{}}
		for name, v := range s.Values {
			later.Values[name] = v*1.5 + 1
		}
		w, err := Window([]*Sample{s, later}, Given{})
		if err != nil {
			return
		}
		row := w.Foretell(pacer.Setting{GOGC: 200})
		if row.Peak.Known() && !(row.Peak.Low <= row.Peak.Mid && row.Peak.Mid <= row.Peak.High) {
			t.Errorf("%+v of %+v", row, w)
		}
	})
}
