package upstream

import (
	"bytes"
	"encoding/json"
	"fmt"
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

// A migration is a public module whose pool is replaced by dewpond's, as docs/migrating.md says.
type migration struct {
	module, version string
	file            string
	edits           [][2]string // what the file has, and what it has then; each once
	benchmarks      string
}

var migrations = []migration{
	{
		module: "github.com/valyala/fasttemplate", version: "v1.2.2", file: "template.go",
		edits: [][2]string{
			{"\t\"github.com/valyala/bytebufferpool\"\n", "\t\"github.com/dewpond/dewpond\"\n"},
			{"var byteBufferPool bytebufferpool.Pool\n", `var (
	blocks  = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "fasttemplate"})
	buffers = dewpond.MustPool(dewpond.PoolOptions[dewpond.Buffer]{Name: "fasttemplate", New: blocks.Buffer, Reset: (*dewpond.Buffer).Release})
)
`},
			{"\tbyteBufferPool bytebufferpool.Pool\n", ""},
			{"\tbb := byteBufferPool.Get()\n", "\tbb := buffers.Get()\n"},
			{"\t\tbb.Reset()\n\t\tbyteBufferPool.Put(bb)\n", "\t\tbuffers.Put(bb)\n"},
			{"\ts := string(bb.B)\n\tbb.Reset()\n\tbyteBufferPool.Put(bb)\n", "\ts := bb.String()\n\tbuffers.Put(bb)\n"},
			{"\tbb := t.byteBufferPool.Get()\n", "\tbb := buffers.Get()\n"},
			{"\t\tbb.Reset()\n\t\tt.byteBufferPool.Put(bb)\n", "\t\tbuffers.Put(bb)\n"},
			{"\ts := string(bb.Bytes())\n\tbb.Reset()\n\tt.byteBufferPool.Put(bb)\n", "\ts := bb.String()\n\tbuffers.Put(bb)\n"},
		},
		benchmarks: "ExecuteFuncString$|ExecuteString$",
	},
	{
		module: "github.com/NYTimes/gziphandler", version: "v1.1.1", file: "gzip.go",
		edits: [][2]string{
			{"\t\"sync\"\n", "\n\t\"github.com/dewpond/dewpond\"\n"},
			{"+ 2]*sync.Pool\n", `+ 2]*dewpond.Pool[zipper]

type zipper struct {
	*gzip.Writer
	to struct{ io.Writer }
}
`},
			{"= &sync.Pool{\n\t\tNew: func() interface{} {\n", `= dewpond.MustPool(dewpond.PoolOptions[zipper]{
		Name: "gziphandler", MaxIdle: 32, Reset: func(z *zipper) { z.to.Writer = nil; z.Reset(&z.to) },
		New: func() *zipper {
			z := new(zipper)
`},
			{"\t\t\tw, _ := gzip.NewWriterLevel(nil, level)\n\t\t\treturn w\n\t\t},\n\t}\n", "\t\t\tz.Writer, _ = gzip.NewWriterLevel(&z.to, level)\n\t\t\treturn z\n\t\t},\n\t})\n"},
			{"\tgw    *gzip.Writer\n", "\tgw    *zipper\n"},
			{".Get().(*gzip.Writer)\n\tgzw.Reset(w.ResponseWriter)\n", ".Get()\n\tgzw.to.Writer = w.ResponseWriter\n"},
		},
		benchmarks: "S2k$|S20k$|P2k$",
	},
}

// Public modules that were migrated pass their own tests, also where all pools are watched, and no
// misuse is found. Their benchmarks run in turn with those of the module as it was; the ratios are logged.
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
			for _, line := range m.compare(t, before, after) {
				t.Log(line)
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
		t.Skipf("%s %s cannot be had here: %v %s", m.module, m.version, err, from.Error)
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
		text := string(b)
		for _, e := range m.edits {
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

var benchmarkLine = regexp.MustCompile(`(?m)^(Benchmark\S+)\s+\d+\s+([\d.]+) ns/op`)

// compare runs the benchmarks of both in turn. It returns for each the median of the ratios of ten
// rounds, with the interval that has it in 98 runs of 100: from the second to the ninth.
func (m migration) compare(t *testing.T, before, after string) (lines []string) {
	measure := func(dir string) map[string]float64 {
		out, err := m.run(dir, "", filepath.Join(dir, "bench.test"), "-test.run=^$", "-test.bench="+m.benchmarks, "-test.benchtime=200ms")
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		times := map[string]float64{}
		for _, found := range benchmarkLine.FindAllStringSubmatch(out, -1) {
			times[found[1]], _ = strconv.ParseFloat(found[2], 64)
		}
		return times
	}
	ratios := map[string][]float64{}
	for range 10 {
		was, is := measure(before), measure(after)
		for name := range was {
			if is[name] == 0 || was[name] == 0 {
				t.Fatalf("%s was measured in %d of two", name, len(is))
			}
			ratios[name] = append(ratios[name], is[name]/was[name])
		}
	}
	if len(ratios) == 0 {
		t.Fatalf("no benchmark is called %s", m.benchmarks)
	}
	for name, all := range ratios {
		slices.Sort(all)
		low, high := all[1], all[8]
		verdict := "as before"
		switch {
		case high < 1:
			verdict = "faster"
		case low > 1:
			verdict = "SLOWER"
		}
		lines = append(lines, fmt.Sprintf("%-45s %.2f [%.2f, %.2f] %s", name, math.Sqrt(all[4]*all[5]), low, high, verdict))
	}
	slices.Sort(lines)
	return lines
}
