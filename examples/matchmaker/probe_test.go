package main

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// The port of --metrics answers what a cluster asks, whoever asks, and nothing else.
func TestMetricsPort(t *testing.T) {
	startsProcesses(t)
	if s := begin(t); s.Metrics != "" {
		t.Errorf("without the flag it listens on %s", s.Metrics)
	}
	s := beginWith(t, func(c *serveCommand) { c.Metrics = "127.0.0.1:0" })
	at := "http://" + s.Metrics
	ask := func(method, path string) (int, string) {
		q, err := http.NewRequestWithContext(t.Context(), method, at+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Host = "10.1.2.3:9090" // a pod's, not this machine's
		a, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		body, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(body)
	}
	s.do(t, "GET", "http://"+s.HTTP+"/api/v1/matches?uid=7", "") // which pools serve
	for _, path := range []string{"/healthz", "/readyz"} {
		if code, body := ask("GET", path); code != http.StatusOK || !strings.HasPrefix(body, "ok\n") {
			t.Errorf("%s: %d %s", path, code, body)
		}
	}
	_, metrics := ask("GET", "/metrics")
	for _, line := range []string{`matchmaker_request_seconds_bucket{path="GET /api/v1/matches",le="+Inf"} 1`, `matchmaker_request_seconds_bucket{path="GET /api/v1/matches",le="0.2"}`, "dewpond_gets_total{"} {
		if !strings.Contains(metrics, line) {
			t.Errorf("/metrics lacks %s", line)
		}
	}
	for path, method := range map[string]string{"/debug/pprof/": "GET", "/admin/gc": "PUT", "/admin/account": "GET", "/api/v1/recommendations?uid=7": "GET"} {
		if code, _ := ask(method, path); code != http.StatusNotFound {
			t.Errorf("%s %s: %d", method, path, code)
		}
	}
	for url, want := range map[string]string{at + "/readyz": "", at + "/nothing": "404", "http://" + s.Admin + "/readyz": "", "http://127.0.0.1:1/": "refused", "%": "parse"} {
		err := (&probeCommand{URL: url, Within: time.Minute}).Run(t.Context())
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("the probe of %s: %v", url, err)
		}
	}
}
