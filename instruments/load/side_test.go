package load_test

import (
	"bytes"
	"expvar"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/pprof"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/report"
)

// TestSlowest has a target that stalls and says where its time goes: the parts of the slowest add
// up to their response.
func TestSlowest(t *testing.T) {
	for _, connections := range []int{128, 8} {
		synctest.Test(t, func(t *testing.T) {
			start := time.Now()
			o := inBubble(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				db := 2 * time.Millisecond
				if at := time.Since(start) % (2 * time.Second); at < 200*time.Millisecond {
					db = 200*time.Millisecond - at
				}
				time.Sleep(db + 3*time.Millisecond)
				w.Header().Set("Server-Timing", fmt.Sprintf(`db;desc="a, b";dur=%.3f, cache;dur=1`, float64(db)/1e6))
			}))
			s := get(t, bubbleURL, load.Arrivals{Rate: 500, Duration: 8 * time.Second})
			s.Connections = connections
			r := run(t, s, o)
			if len(r.Slowest) != 1 || r.Slowest[0].Requests != 40 || r.Slowest[0].Share != 0.01 {
				t.Fatalf("the slowest are %+v", r.Slowest)
			}
			one := r.Slowest[0]
			sum := one.Lag + one.Waiting + one.Connecting + one.Rest
			for _, p := range one.Phases {
				sum += p.Mean
			}
			if d := sum - one.Response; d < -1 || d > 1 {
				t.Errorf("the parts add up to %v of %v", time.Duration(sum), time.Duration(one.Response))
			}
			if len(one.Phases) != 2 || one.Phases[0].Name != "db" || one.Phases[1].Name != "cache" || one.Phases[1].Mean != 1e6 {
				t.Errorf("the phases are %+v", one.Phases)
			}
			if waits := connections == 8; waits != (one.Waiting > 10e6) || one.Connecting != 0 || one.Rest < 1.9e6 || one.Rest > 2.1e6 {
				t.Errorf("on %d connections the parts are %+v", connections, one)
			}
			var text bytes.Buffer
			if err := report.WriteText(&text, &r); err != nil || !strings.Contains(text.String(), "slowest, mean  requests  response") {
				t.Errorf("%v: %s", err, &text)
			}
		})
	}
}

// TestTargetSide has a target that shows all there is to see. It decides by what is there, not by
// how much.
func TestTargetSide(t *testing.T) {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.Handle("/debug/vars", expvar.Handler())
	mux.HandleFunc("/{$}", func(http.ResponseWriter, *http.Request) {})
	target := httptest.NewServer(mux)
	defer target.Close()
	dir := filepath.Join(t.TempDir(), "new")
	s := get(t, target.URL, load.Arrivals{Rate: 500, Duration: 2500 * time.Millisecond})
	r := run(t, s, load.Options{Metrics: target.URL + "/debug/vars", Pprof: target.URL + "/debug/pprof", Capture: dir})
	if len(r.Attribution) == 0 || r.Attribution[0].Beyond != "p99_ns" || r.Attribution[0].Cause != "collector" {
		t.Errorf("attribution: %+v, notes %v", r.Attribution, r.Target.Notes)
	}
	for _, name := range []string{"trace.out", "cpu.pprof"} {
		if f, err := os.Stat(filepath.Join(dir, name)); err != nil || f.Size() == 0 {
			t.Errorf("%s: %v", name, err)
		}
	}
	names := map[string]bool{}
	for _, m := range r.Metrics {
		names[m.Name] = len(m.At) == len(m.Values) && len(m.At) > 0
	}
	if !names["heap bytes"] || !names["collections"] {
		t.Errorf("metrics: %+v", r.Metrics)
	}
	var page bytes.Buffer
	if err := report.WriteHTML(&page, &r); err != nil || !strings.Contains(page.String(), "Target: heap bytes") {
		t.Errorf("the page has no metrics: %v", err)
	}

	for _, o := range []load.Options{{Metrics: target.URL}, {Metrics: target.URL + "/debug/pprof/none"}} {
		if _, err := load.Run(t.Context(), s, o); err == nil {
			t.Errorf("a run with %+v", o)
		}
	}
	short := s
	short.Arrivals.Duration = 100 * time.Millisecond
	if r := run(t, short, load.Options{Pprof: target.URL + "/nowhere"}); len(r.Attribution) != 1 {
		t.Errorf("without a trace: %+v", r.Attribution)
	}
}
