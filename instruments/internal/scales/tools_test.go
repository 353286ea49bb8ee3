package scales

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
)

// What the tools print is read, here of versions that were run on the stalling target: h2load
// 1.52, hey 0.1.4, wrk 4.1, ghz 0.121 and k6 1.8.
func TestRead(t *testing.T) {
	for _, c := range []struct {
		name string
		read func([]byte, string) (quantiles, error)
		out  string
		want quantiles
	}{
		{"wrk", readWrk, "  Latency Distribution\n     50%  193.00us\n     75%  338.00us\n     90%    4.48ms\n     99%  180.29ms\n  112802 requests in 4.08s, 8.07MB read\n", quantiles{"p50": 193e3, "p99": 180.29e6}},
		{"wrk, slow", readWrk, "     50%    1.50s \n", quantiles{"p50": 1.5e9}},
		{"hey", readHey, "Latency distribution:\n  10% in 0.0004 secs\n  50% in 0.0007 secs\n  95% in 0.0125 secs\n  99% in 0.1844 secs\n", quantiles{"p50": 0.7e6, "p95": 12.5e6, "p99": 184.4e6}},
		{"hey, newer", readHey, "  50%% in 0.0007 secs\n", quantiles{"p50": 0.7e6}},
		{"ghz", readGhz, `{"latencyDistribution":[{"percentage":10,"latency":1},{"percentage":50,"latency":355994},{"percentage":95,"latency":23586989},{"percentage":99,"latency":89281079}]}`, quantiles{"p50": 355994, "p95": 23586989, "p99": 89281079}},
		{"k6", readK6, "\n" + `{"med":0.5,"p(95)":106.25,"p(99)":186.5}` + "\n", quantiles{"p50": 0.5e6, "p95": 106.25e6, "p99": 186.5e6}},
	} {
		if got, err := c.read([]byte(c.out), ""); err != nil || !maps.EqualFunc(got, c.want, near) {
			t.Errorf("%s: %v, %v, want %v", c.name, got, err, c.want)
		}
		if got, err := c.read([]byte("command not found\n"), ""); err == nil {
			t.Errorf("%s: of nothing it reads %v", c.name, got)
		}
	}
}

func near(a, b float64) bool { return a-b < 1 && b-a < 1 }

func TestReadH2load(t *testing.T) {
	dir := t.TempDir()
	if q, err := readH2load(nil, dir); err == nil {
		t.Errorf("without a log: %v", q)
	}
	write := func(text string) {
		if err := os.WriteFile(filepath.Join(dir, h2loadLog), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("1795374964966134\t200\t11088\n1795374964966139\t200\t148\n1795374964966148\t200\t145\n")
	if q, err := readH2load(nil, dir); err != nil || !maps.EqualFunc(q, quantiles{"p50": 148e3, "p95": 11088e3, "p99": 11088e3}, near) {
		t.Errorf("%v, %v", q, err)
	}
	write("1795374964966134\t503\t11088\n")
	if q, err := readH2load(nil, dir); err == nil {
		t.Errorf("of errors: %v", q)
	}
}
