package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A migration is a public module whose pool is replaced by dewpond's, by a diff of docs/migrating.md.
type migration struct {
	module, version string
	file            string
	benchmarks      string
}

var migrations = []migration{
	{"github.com/valyala/fasttemplate", "v1.2.2", "template.go", "ExecuteFuncString$|ExecuteString$"},
	{"github.com/NYTimes/gziphandler", "v1.1.1", "gzip.go", "S2k$|S20k$|P2k$"},
}

// edits returns what the file has, and what it has then, for each hunk of the page's diff.
func (m migration) edits(page string) ([][2]string, error) {
	name := strings.TrimPrefix(m.module, "github.com/") + " " + strings.TrimPrefix(m.version, "v")
	head := fmt.Sprintf("```diff\n--- a/%s\n+++ b/%[1]s\n", m.file)
	_, rest, found := strings.Cut(page, "\n"+name+", ")
	_, diff, has := strings.Cut(rest, head)
	if !found || !has {
		return nil, fmt.Errorf("the page has no diff of %s, %s", name, m.file)
	}
	diff, _, _ = strings.Cut(diff, "```")
	var edits [][2]string
	for line := range strings.Lines(diff) {
		if strings.HasPrefix(line, "@@ ") {
			edits = append(edits, [2]string{})
			continue
		} else if len(edits) == 0 {
			return nil, fmt.Errorf("%s: %q is in no hunk", m.file, line)
		}
		e := &edits[len(edits)-1]
		switch kind := line[0]; kind {
		case '-':
			e[0] += line[1:]
		case '+':
			e[1] += line[1:]
		default:
			line = strings.TrimPrefix(line, " ") // an empty line may lack it
			e[0], e[1] = e[0]+line, e[1]+line
		}
	}
	return edits, nil
}

// Public modules that were migrated pass their own tests, also where all pools are watched, and no
// misuse is found. Their benchmarks run in turn with those of the module as it was, and none is slower.
func TestMigrated(t *testing.T) {
	if os.Getenv("DEWPOND_MIGRATED") == "" {
		t.Skip("downloads and builds two modules, and measures for a minute: DEWPOND_MIGRATED=1 has it run, as .ci/nightly migrated does")
	}
	for _, m := range migrations {
		t.Run(m.module, func(t *testing.T) {
			before, after := m.copy(t, false), m.copy(t, true)
			for _, check := range []string{"off", "all"} {
				if out, err := m.run(after, "DEWPOND_CHECK="+check, "go", "test", "-count=1", "-v", "."); err != nil {
					t.Fatalf("with DEWPOND_CHECK=%s: %v\n%s", check, err, out)
				} else if found := misuse.FindAllString(out, -1); len(found) > strings.Count(out, "dewpond: leak: ") {
					t.Errorf("with DEWPOND_CHECK=%s misuse is reported:\n%s", check, out)
				} else {
					t.Logf("with DEWPOND_CHECK=%s %d tests pass", check, strings.Count(out, "--- PASS: "))
				}
			}
			first := m.compare(t, before, after, m.benchmarks)
			for _, name := range slices.Sorted(maps.Keys(first)) {
				t.Log(name, first[name])
				if !first[name].slower() {
					continue
				}
				// By chance an interval is above 1 in one run of a hundred, and so is the next.
				if again := m.compare(t, before, after, name+"$")[name]; again.slower() {
					t.Error(name, again, "again")
				} else {
					t.Log(name, again, "the second time")
				}
			}
		})
	}
}

// copy returns a directory with the module, as it is or migrated.
func (m migration) copy(t *testing.T, migrated bool) (dir string) {
	t.Helper()
	out, err := m.run(t.TempDir(), "", "go", "mod", "download", "-json", m.module+"@"+m.version)
	var from struct{ Dir, Error string }
	if json.Unmarshal([]byte(out), &from); from.Dir == "" {
		t.Fatalf("%s %s cannot be had here: %v %s", m.module, m.version, err, from.Error)
	}
	dir = t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(from.Dir)); err != nil {
		t.Fatal(err)
	}
	if migrated {
		name := filepath.Join(dir, m.file)
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile("../../docs/migrating.md")
		if err != nil {
			t.Fatal(err)
		}
		edits, err := m.edits(string(page))
		if err != nil {
			t.Fatal(err)
		}
		text := string(b)
		for _, e := range edits {
			if strings.Count(text, e[0]) != 1 {
				t.Fatalf("%s has %d times\n%s", m.file, strings.Count(text, e[0]), e[0])
			}
			text = strings.Replace(text, e[0], e[1], 1)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		root, err := filepath.Abs("../..")
		if err != nil {
			t.Fatal(err)
		}
		if out, err := m.run(dir, "", "go", "mod", "edit", "-go=1.26", "-require=github.com/dewpond/dewpond@v0.0.0", "-replace=github.com/dewpond/dewpond="+root); err != nil {
			t.Fatalf("%v: %s", err, out)
		}
	}
	if out, err := m.run(dir, "", "go", "test", "-c", "-o", "bench.test", "."); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return dir
}

// run runs a command in a module that stands alone.
func (m migration) run(dir, environment, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", environment)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("%w: %s", err, stderr.String())
	}
	return string(out), err
}

// misuse begins a report. Of leaks there may be some: a test of gziphandler keeps two writers.
var misuse = regexp.MustCompile(`(?m)^dewpond: [^\n]* (of|to) pool "`)

var benchmarkLine = regexp.MustCompile(`(?m)^(Benchmark\S+?)(?:-\d+)?\s+\d+\s+([\d.]+) ns/op`)

// Ratios are those of ten rounds, in ascending order: what a benchmark takes after the migration,
// divided by what it took before.
type ratios []float64

// interval returns the ends of the interval that has the median in 98 runs of 100.
func (r ratios) interval() (low, high float64) { return r[1], r[8] }

// slower tells whether the migration has made the benchmark slower, for all that the rounds tell.
func (r ratios) slower() bool {
	low, _ := r.interval()
	return low > 1
}

func (r ratios) String() string {
	low, high := r.interval()
	verdict := "as before"
	switch {
	case high < 1:
		verdict = "faster"
	case r.slower():
		verdict = "SLOWER"
	}
	return fmt.Sprintf("%.2f [%.2f, %.2f] %s", math.Sqrt(r[4]*r[5]), low, high, verdict)
}

// compare runs the benchmarks of both in turn, ten rounds.
func (m migration) compare(t *testing.T, before, after, benchmarks string) map[string]ratios {
	measure := func(dir string) map[string]float64 {
		out, err := m.run(dir, "", filepath.Join(dir, "bench.test"), "-test.run=^$", "-test.bench="+benchmarks, "-test.benchtime=200ms")
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		times := map[string]float64{}
		for _, found := range benchmarkLine.FindAllStringSubmatch(out, -1) {
			times[found[1]], _ = strconv.ParseFloat(found[2], 64)
		}
		return times
	}
	all := map[string]ratios{}
	for range 10 {
		was, is := measure(before), measure(after)
		for name := range was {
			if is[name] == 0 || was[name] == 0 {
				t.Fatalf("%s was measured in %d of two", name, len(is))
			}
			all[name] = append(all[name], is[name]/was[name])
		}
	}
	if len(all) == 0 {
		t.Fatalf("no benchmark is called %s", benchmarks)
	}
	for name, r := range all {
		if len(r) != 10 {
			t.Fatalf("%s was measured in %d rounds of ten", name, len(r))
		}
		slices.Sort(r)
	}
	return all
}

// A benchmark is slower if the least but one of its ten ratios is above 1, and not if fewer are.
func TestSlower(t *testing.T) {
	for _, c := range []struct {
		least, second, most float64
		want                string
	}{
		{0.9, 1.1, 1.3, "1.30 [1.10, 1.30] SLOWER"},
		{0.9, 0.9, 1.3, "1.30 [0.90, 1.30] as before"},
		{0.7, 0.7, 0.8, "0.80 [0.70, 0.80] faster"},
	} {
		r := ratios{c.least, c.second, c.most, c.most, c.most, c.most, c.most, c.most, c.most, c.most}
		if got := r.String(); got != c.want || r.slower() != strings.HasSuffix(got, "SLOWER") {
			t.Errorf("%v is %s, want %s", []float64(r), got, c.want)
		}
	}
}

// The page has the diff of each module, and nothing else says what is edited.
func TestPageHasMigrations(t *testing.T) {
	page, err := os.ReadFile("../../docs/migrating.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range migrations {
		edits, err := m.edits(string(page))
		if err != nil {
			t.Error(err)
		}
		added := ""
		for _, e := range edits {
			added += e[1]
			if e[0] == "" || e[0] == e[1] {
				t.Errorf("%s: a hunk edits nothing: %q", m.file, e)
			}
		}
		if !strings.Contains(added, "dewpond.MustPool(") {
			t.Errorf("%s: the diff adds no pool:\n%s", m.file, added)
		}
	}
}
