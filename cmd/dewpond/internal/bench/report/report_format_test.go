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

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/synthetic"
)

// JSON has the names that its readers rely on.
func TestJSONNames(t *testing.T) {
	var out bytes.Buffer
	if err := JSON(&out, synthetic.Document(synthetic.Mixed, synthetic.Rounds(20, 6, 20_000, synthetic.Pools[3], synthetic.Pools[5]))); err != nil {
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
	if d.Schema == nil || *d.Schema != bench.Schema || d.Environment["go_version"] == nil || d.Scenario["name"] != "mixed" {
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
	d := synthetic.Document(synthetic.Mixed, synthetic.Rounds(21, 2, 20_000, synthetic.Pools[3], synthetic.As(synthetic.Pools[5], "../evil")))
	dir := t.TempDir()
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
			// HdrHistogram's plotter splits the four columns by blanks, and reads the first
			// and the last as numbers.
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
