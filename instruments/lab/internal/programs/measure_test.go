package programs

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// The whole of it, on a module of ours that need not be downloaded.
func TestMeasure(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the Go tool; the run without -short does")
	}
	if runtime.GOOS != "linux" {
		t.Skip("the harness reads /proc")
	}
	harness, err := fs.ReadFile(embedded, "_loads/harness.go")
	if err != nil {
		t.Fatal(err)
	}
	unusedPool, err := fs.ReadFile(embedded, "_loads/linked.go")
	if err != nil {
		t.Fatal(err)
	}
	loads = fstest.MapFS{
		"_loads/harness.go": {Data: harness},
		"_loads/linked.go":  {Data: unusedPool},
		"_loads/fixture.go": {Data: []byte("package load\n\nvar dewpondLoads = map[string]dewpondLoad{\"pages\": dewpondBenchmark(BenchmarkPage)}\n")},
	}
	defer func() { loads = embedded }()
	root, err := filepath.Abs("../../../..")
	if err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs("testdata/fixture")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	atLoad := map[string]int{}
	b := Bench{Dir: dir, Root: root, Pairs: 2, Commit: "abc1234", Do: func(ctx context.Context, s Step) (Ending, error) {
		if slices.Contains(s.Args, "download") {
			return Ending{Module: module}, nil
		}
		// A load is in the binary of a test, and its pools are to be those of a program that is none.
		if load := slices.Contains(s.Args, "-test.run=^TestDewpondLoad$"); load != slices.Contains(s.Env, "DEWPOND_BUBBLES=off") {
			t.Errorf("%q has the environment %q", s.Args, s.Env)
		} else if load {
			atLoad[strings.TrimSuffix(filepath.Base(s.Args[0]), "-root.exe")+" "+strings.Join(slices.DeleteFunc(slices.Clone(s.Env), func(v string) bool {
				return !strings.HasPrefix(v, "GOMAXPROCS=") && !strings.HasPrefix(v, "DEWPOND_LOAD=")
			}), " ")]++
		}
		return s.Do(ctx)
	}}
	p := Program{
		Procs: []int{1, 2},
		Skip:  "TestLeftOut",
		Name:  "fixture", Module: "example.com/fixture", Version: "v1.0.0", Edits: []Edit{Recipe{"."}},
		Packages: []string{"."}, Loads: []Load{{Name: "pages", Package: ".", As: "fixture", File: "fixture.go", Ops: 1000}},
	}
	o, err := b.Measure(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if o.Lines != (Lines{2, 2}) || o.Commit != "abc1234" {
		t.Errorf("the lines are %+v", o.Lines)
	}
	for _, run := range o.runs() {
		if run.Passed != 3 || run.Failures != nil || run.Reports != 0 || run.Of != 0 {
			t.Errorf("the tests %s: %+v", run.name, *run.Tests)
		}
	}
	if len(o.Rounds) != 12 {
		t.Fatalf("%d rounds, want two of each side at each GOMAXPROCS", len(o.Rounds))
	}
	for _, side := range []string{Original, Linked, Migrated} {
		for _, at := range []string{"GOMAXPROCS=1", "GOMAXPROCS=2"} {
			if n := atLoad[side+" "+at+" DEWPOND_LOAD=pages"]; n != 2 {
				t.Errorf("%s, %s: %d rounds, want 2 (%v)", side, at, n, atLoad)
			}
		}
	}
	for _, r := range o.Rounds {
		if r.Ops != 1000 || r.Figures[cpu] <= 0 || r.Figures[peak] <= 0 || r.Figures[allocs] < 1 {
			t.Errorf("a round of %s: %+v", r.Contender, r.Figures)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 { // tmp
		t.Errorf("%v is left, %v", left, err)
	}

	// At several values of GOGC: the loads alone, each variant with its own value on its own side.
	asked := map[string]int{}
	atGOGC := Bench{Dir: dir, Root: root, Pairs: 2, Do: func(ctx context.Context, s Step) (Ending, error) {
		switch {
		case slices.Contains(s.Args, "-test.v"):
			t.Errorf("it runs tests: %q", s.Args)
		case slices.Contains(s.Args, "-test.run=^TestDewpondLoad$"):
			asked[filepath.Base(s.Dir)+" "+s.Env[len(s.Env)-1]]++
		}
		return b.Do(ctx, s)
	}}
	if o, err = atGOGC.MeasureGOGC(t.Context(), p); err != nil {
		t.Fatal(err)
	}
	want := map[string]int{"original GOGC=100": 2, "original GOGC=200": 2, "original GOGC=400": 2, "dewpond GOGC=50": 2, "dewpond GOGC=100": 2}
	if !maps.Equal(asked, want) {
		t.Errorf("the loads ran as %v, want %v", asked, want)
	}
	var table strings.Builder
	if err := GOGC(&table, Report{Programs: []Program{p}, Outcomes: []Outcome{o}}); err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| fixture, pages \| GOGC=200 \| \S+ \[.*\] \| \S+ \[.*\] \| .* \|\n\|  \| GOGC=400 \|.*\n\|  \| dewpond, GOGC=50 \|.*\n\|  \| dewpond, GOGC=100 \|.*\n\n- fixture: .*, 2 pairs\n`)
	if !row.MatchString(table.String()) {
		t.Errorf("the table is\n%s", table.String())
	}

	broken := p
	broken.Edits = []Edit{Rule{"pool.go", "sync.Pool{", "dewpond.Pool{", 1}}
	if _, err := b.Measure(t.Context(), broken); err == nil {
		t.Error("what does not compile is no error")
	}
	broken.Edits = nil
	if _, err := b.Measure(t.Context(), broken); err == nil {
		t.Error("edits that change nothing are no error")
	}
}
