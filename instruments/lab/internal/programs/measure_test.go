package programs

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
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
	loads = fstest.MapFS{
		"_loads/harness.go": {Data: harness},
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
	b := Bench{Dir: dir, Root: root, Pairs: 2, Do: func(ctx context.Context, s Step) (Ending, error) {
		if slices.Contains(s.Args, "download") {
			return Ending{Module: module}, nil
		}
		// A load is in the binary of a test, and its pools are to be those of a program that is none.
		if load := slices.Contains(s.Args, "-test.run=^TestDewpondLoad$"); load != slices.Contains(s.Env, "DEWPOND_BUBBLES=off") {
			t.Errorf("%q has the environment %q", s.Args, s.Env)
		}
		return s.Do(ctx)
	}}
	p := Program{
		Skip: "TestLeftOut",
		Name: "fixture", Module: "example.com/fixture", Version: "v1.0.0", Edits: []Edit{Recipe{"."}},
		Packages: []string{"."}, Loads: []Load{{Name: "pages", Package: ".", As: "fixture", File: "fixture.go", Ops: 1000}},
	}
	o, err := b.Measure(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if o.Lines != (Lines{2, 2}) {
		t.Errorf("the lines are %+v", o.Lines)
	}
	for _, run := range o.runs() {
		if run.Passed != 3 || run.Failures != nil || run.Reports != 0 || run.Of != 0 {
			t.Errorf("the tests %s: %+v", run.name, *run.Tests)
		}
	}
	if len(o.Rounds) != 4 {
		t.Fatalf("%d rounds, want two of each side", len(o.Rounds))
	}
	for _, r := range o.Rounds {
		if r.Ops != 1000 || r.Figures[cpu] <= 0 || r.Figures[peak] <= 0 || r.Figures[allocs] < 1 {
			t.Errorf("a round of %s: %+v", r.Contender, r.Figures)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 { // tmp
		t.Errorf("%v is left, %v", left, err)
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
