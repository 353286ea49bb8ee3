package target

import (
	"context"
	"errors"
	"expvar"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/exp/trace"
)

// TestPrometheus sums over labels, and knows counters from gauges.
func TestPrometheus(t *testing.T) {
	s, err := readPrometheus(strings.NewReader(`# TYPE go_goroutines gauge
go_goroutines 12
# TYPE go_gc_duration_seconds summary
go_gc_duration_seconds{quantile="0"} 1e-05
go_gc_duration_seconds_sum 0.1
go_gc_duration_seconds_count 33
# TYPE go_memstats_heap_alloc_bytes gauge
go_memstats_heap_alloc_bytes 1e6
# TYPE dewpond_waits_total counter
dewpond_waits_total{pool="a"} 3
dewpond_waits_total{pool="b"} 4
# TYPE other counter
other 1
`))
	want := Sample{Goroutines: {12, false}, Collections: {33, true}, Heap: {1e6, false}, "dewpond_waits_total": {7, true}}
	if err != nil || len(s) != len(want) {
		t.Fatalf("%v, %v", s, err)
	}
	for name, v := range want {
		if s[name] != v {
			t.Errorf("%s is %v, want %v", name, s[name], v)
		}
	}
}

// TestSeries makes rates of counters, and none where the target began anew.
func TestSeries(t *testing.T) {
	start := time.Now()
	s := Scraper{}
	for i, n := range []float64{10, 30, 5, 6} {
		s.at = append(s.at, start.Add(time.Duration(2*i)*time.Second))
		s.taken = append(s.taken, Sample{Collections: {n, true}, Heap: {n, false}})
	}
	all := s.Series(start)
	if len(all) != 2 || all[0].Name != Collections || len(all[0].At) != 2 || all[0].Values[0] != 10 || all[0].Values[1] != 0.5 || all[0].At[1] != 6 || len(all[1].At) != 4 {
		t.Errorf("%+v", all)
	}
}

// TestScrape asks real handlers.
func TestScrape(t *testing.T) {
	s := httptest.NewServer(expvar.Handler())
	defer s.Close()
	got, err := Scrape(t.Context(), s.Client(), s.URL)
	if err != nil || got[Heap].Now <= 0 || got[Heap].Counter || !got[Collections].Counter {
		t.Errorf("%v, %v", got, err)
	}
	if _, err := NewScraper(t.Context(), s.Client(), s.URL+"x"); err == nil {
		t.Error("there are metrics at no URL")
	}
}

// TestCapture takes both files from real handlers, and each is what it must be.
func TestCapture(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	s := httptest.NewServer(mux)
	defer s.Close()
	base, err := ProfileURL(s.URL)
	if err != nil || base != s.URL+"/debug/pprof" {
		t.Fatal(base, err)
	}
	dir := t.TempDir()
	c := Capture(t.Context(), s.Client(), base, 1, dir)
	if c.Err != nil || c.Phases == nil || len(c.Files) != 2 {
		t.Fatalf("%+v", c)
	}
	f, err := os.Open(filepath.Join(dir, "trace.out"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := trace.NewReader(f)
	for err == nil {
		_, err = r.ReadEvent()
	}
	if !errors.Is(err, io.EOF) {
		t.Errorf("the trace cannot be read to its end: %v", err)
	}
	profile, err := os.ReadFile(filepath.Join(dir, "cpu.pprof"))
	if err != nil || !strings.HasPrefix(string(profile), "\x1f\x8b") {
		t.Errorf("the profile has %d bytes and is not compressed: %v", len(profile), err)
	}
	if c := Capture(context.Background(), s.Client(), s.URL, 1, ""); c.Err == nil {
		t.Error("a trace was taken where there is none")
	}
	if _, err := ProfileURL("127.0.0.1:6060"); err == nil {
		t.Error("an address is no URL")
	}
}
