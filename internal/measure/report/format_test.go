package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/result"
)

func TestUnits(t *testing.T) {
	for _, test := range []struct {
		name string
		v    float64
		want string
	}{
		{"a_ns", 7.1, "7.1 ns"}, {"a_ns", 51, "51 ns"}, {"a_ns", 999.4, "999 ns"}, {"a_ns", 999.6, "1.00 µs"},
		{"a_ns", 17_900, "17.9 µs"}, {"a_ns", 3e9, "3.00 s"}, {"a_ns", 0, "0 ns"}, {"a_ns", -1500, "-1.50 µs"},
		{"rss_bytes", 66_400_000, "66.4 MB"}, {"alloc_bytes_per_op", 0.0246, "0.02 B"}, {"allocs_per_op", 0.000034, "<0.01"}, {"alloc_bytes_per_op", 2548, "2.55 kB"},
		{"gc_cpu_share", 0.231, "23.1 %"}, {"ops_per_sec", 3_684_000, "3.68 M"}, {"second_burst_misses", 256, "256"},
		{"ops_per_sec", 99_960, "100 k"},
	} {
		if got := format(test.name, test.v); got != test.want {
			t.Errorf("format(%q, %v) = %q, want %q", test.name, test.v, got, test.want)
		}
	}
	for v, want := range map[float64]string{1: "1.00", 0.998: "0.998", 1.004: "1.004", 0.213: "0.21", 59.14: "59.1", 123.4: "123", 142_723: "143k", 0.0123: "0.0123"} {
		if got := quotient(v); got != want {
			t.Errorf("quotient(%v) = %q, want %q", v, got, want)
		}
	}
}

func TestLabels(t *testing.T) {
	for name, want := range map[string]string{
		"put_p999_ns": "Put P999", "micro_128_1g_ns": "128 B, 1 goroutine", "micro_8192_par_ns": "8 KiB, parallel",
		"second_burst_ns": "second burst", "dropped_arrivals": "dropped arrivals", "rss_bytes": "RSS",
	} {
		if got := label(name); got != want {
			t.Errorf("label(%q) = %q, want %q", name, got, want)
		}
	}
}

// The names that readers of the JSON rely on.
func TestJSONNames(t *testing.T) {
	var out bytes.Buffer
	if err := JSON(&out, document(t, mixed, rounds(t, 20, 6, 20_000, pools[3], pools[5]))); err != nil {
		t.Fatal(err)
	}
	var d struct {
		Schema      *int
		Environment map[string]any
		Scenario    map[string]any
		Contenders  []map[string]any
	}
	if err := json.Unmarshal(out.Bytes(), &d); err != nil {
		t.Fatal(err)
	}
	if d.Schema == nil || *d.Schema != result.Schema || d.Environment["go_version"] == nil || d.Scenario["name"] != "mixed" {
		t.Errorf("schema, environment or scenario is missing:\n%.400s", out.String())
	}
	if len(d.Contenders) != 2 {
		t.Fatalf("%d contenders, want 2", len(d.Contenders))
	}
	c := d.Contenders[1]
	if c["name"] != "dewpond" {
		t.Errorf("name = %v", c["name"])
	}
	figure := func(where string, v any) {
		m, _ := v.(map[string]any)
		for _, k := range []string{"median", "min", "max"} {
			if _, ok := m[k].(float64); !ok {
				t.Errorf("%s has no %s: %v", where, k, v)
			}
		}
	}
	for _, name := range []string{"ops_per_sec", "gc_per_5s", "alloc_bytes_per_op", "allocs_per_op", "gc_cpu_share", "rss_peak_bytes"} {
		figure(name, c[name])
	}
	for _, op := range []string{"get", "put"} {
		m, _ := c[op].(map[string]any)
		for _, p := range []string{"p50_ns", "p99_ns", "p999_ns", "p9999_ns"} {
			figure(op+"."+p, m[p])
		}
		if m["samples"] != 120_000.0 {
			t.Errorf("%s.samples = %v, want 120000", op, m["samples"])
		}
	}
}

func TestHGRMIsReadBack(t *testing.T) {
	d := document(t, mixed, rounds(t, 21, 2, 20_000, pools[3], as(pools[5], "../evil")))
	dir := filepath.Join(t.TempDir(), "made", "here")
	if err := HGRM(dir, d); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"syncpool-class-get.hgrm", "syncpool-class-put.hgrm", "___evil-get.hgrm", "___evil-put.hgrm"} {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Error(err)
			continue
		}
		rows := 0
		last := [3]float64{}
		scan := bufio.NewScanner(bytes.NewReader(data))
		for scan.Scan() {
			// What HdrHistogram's plotter does: four columns split by blanks, the
			// first and the last of them numbers.
			f := strings.Fields(scan.Text())
			if strings.HasPrefix(scan.Text(), "#") || len(f) != 4 || f[0] == "Value" {
				continue
			}
			rows++
			value, _ := strconv.ParseFloat(f[0], 64)
			p, _ := strconv.ParseFloat(f[1], 64)
			n, _ := strconv.ParseFloat(f[2], 64)
			if value < last[0] || p < last[1] || n < last[2] || value == 0 {
				t.Fatalf("%s: %q after %v is no distribution", name, scan.Text(), last)
			}
			last = [3]float64{value, p, n}
		}
		if rows < 20 || last[1] != 1 || last[2] != 40_000 {
			t.Errorf("%s: %d rows, the last at %v; want the whole of 40000 samples", name, rows, last)
		}
		for _, footer := range []string{"#[Mean ", "#[Max ", "#[Buckets "} {
			if !bytes.Contains(data, []byte(footer)) {
				t.Errorf("%s has no %q", name, footer)
			}
		}
	}
	if entries, _ := os.ReadDir(filepath.Dir(dir)); len(entries) != 1 {
		t.Errorf("a name escaped its directory: %v", entries)
	}
}
