package poolvet_test

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/analysis/passes/copylock"

	"github.com/dewpond/dewpond/poolvet"
)

// together is one analyzer that reports what all of these do, so that what one check takes for
// right is held to be right by the others too.
func together(checks ...*analysis.Analyzer) *analysis.Analyzer {
	a := &analysis.Analyzer{Name: "all", Doc: "every check"}
	for _, c := range checks {
		a.Requires = append(a.Requires, c.Requires...)
	}
	a.Run = func(pass *analysis.Pass) (any, error) {
		for _, c := range checks {
			if _, err := c.Run(pass); err != nil {
				return nil, err
			}
		}
		return nil, nil
	}
	return a
}

// ofSync has missingput look at sync.Pool too.
func ofSync(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts the go command")
	}
	if err := poolvet.MissingPut.Flags.Set("sync", "true"); err != nil {
		t.Fatal(err)
	}
}

func TestChecks(t *testing.T) {
	ofSync(t)
	var patterns []string
	for _, dir := range shapes(t) {
		switch dir {
		case "needless", "noreset", "fixes", "copied", "variants":
		default:
			patterns = append(patterns, "./src/"+dir)
		}
	}
	analysistest.Run(t, analysistest.TestData(), together(poolvet.Analyzers()...), patterns...)
}

func TestOnRequest(t *testing.T) {
	ofSync(t)
	checks := append(poolvet.Analyzers(), poolvet.OnRequest()...)
	analysistest.Run(t, analysistest.TestData(), together(checks...), "./src/needless", "./src/noreset")
}

// TestCopied holds a sync.Pool that is copied to be a finding of go vet's own, and none of ours.
func TestCopied(t *testing.T) {
	ofSync(t)
	checks := append(poolvet.Analyzers(), copylock.Analyzer)
	analysistest.Run(t, analysistest.TestData(), together(checks...), "./src/copied")
}

// TestShapesRun runs the shapes that can run: under CheckAll each bad one fails, and each good one
// passes. Those of sync.Pool run with a twin of it whose objects are dewpond's, and are otherwise
// compiled as they are.
func TestShapesRun(t *testing.T) {
	if testing.Short() {
		t.Skip("starts the go command")
	}
	c := exec.Command("go", "test", "-tags", "twin", "-overlay", withTwin(t), "./src/...")
	c.Dir, c.Env = "testdata", append(os.Environ(), "GOWORK=off", "GOFLAGS=")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// withTwin writes the shapes of sync.Pool with its twin, and returns the go command's list of what
// replaces what.
func withTwin(t *testing.T) (overlay string) {
	t.Helper()
	dir := t.TempDir()
	replace := map[string]string{}
	for _, name := range []string{"useafterput/a.go", "doubleput/a.go", "returnput/a.go", "missingput/a.go", "inside/a.go", "wrap/wrap.go"} {
		name, err := filepath.Abs(filepath.Join("testdata", "src", name))
		if err != nil {
			t.Fatal(err)
		}
		old, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(old), "sync.Pool", "twin.Pool")
		text = strings.Replace(text, "var blocks twin.Pool", "var blocks twin.Blocks", 1) // its boxes are no matter
		imports := "\t\"testdata.example/src/twin\"\n"
		if strings.Contains(text, "sync.") {
			imports += "\t\"sync\"\n"
		}
		text = strings.Replace(text, "\t\"sync\"\n", imports, 1)
		replace[name] = filepath.Join(dir, strings.ReplaceAll(filepath.ToSlash(name), "/", "_"))
		if err := os.WriteFile(replace[name], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	list, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	overlay = filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, list, 0o600); err != nil {
		t.Fatal(err)
	}
	return overlay
}

// notRun is the shapes that no test runs, by package, or by package and function, and why.
var notRun = map[string]string{
	"unfit":               "to pool a handle misuses no memory",
	"percall":             "it costs memory and time alone",
	"deferput":            "it costs memory and time alone",
	"overwrite":           "it races, which go test -race sees",
	"needless":            "it costs memory and time alone",
	"noreset":             "the wrong value is the program's own",
	"ignore":              "the misuse is meant",
	"copied":              "it is go vet's own finding",
	"fixes":               "it has the shapes of other packages, for their fixes",
	"nofix":               "it has the shapes of other packages, for their fixes",
	"scope.twoGoroutines": "two goroutines race, which go test -race sees",
	"scope.inALoop":       "goroutines race, which go test -race sees",
	"scope.beside":        "a goroutine and its maker race, which go test -race sees",
}

// TestEachShapeRuns holds the tests beside the shapes to run each function that has a want, but for
// those in notRun.
func TestEachShapeRuns(t *testing.T) {
	unused := maps.Clone(notRun)
	starts := regexp.MustCompile(`^(?:func (?:\([^)]*\) )?|var )(\w+)`)
	for _, dir := range shapes(t) {
		delete(unused, dir)
		shapes, err := os.ReadFile(filepath.Join("testdata", "src", dir, "a.go"))
		if notRun[dir] != "" || os.IsNotExist(err) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		tests, err := filepath.Glob(filepath.Join("testdata", "src", dir, "*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		var runs []byte
		for _, name := range tests {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			runs = append(runs, text...)
		}
		name := ""
		for line := range strings.Lines(string(shapes)) {
			if m := starts.FindStringSubmatch(line); m != nil {
				name = m[1]
			}
			if !strings.Contains(line, "// want ") {
				continue
			}
			delete(unused, dir+"."+name)
			switch run := regexp.MustCompile(`\b` + name + `[(,)]`).Match(runs); {
			case !run && notRun[dir+"."+name] == "":
				t.Errorf("nothing runs %s of %s", name, dir)
			case run && notRun[dir+"."+name] != "":
				t.Errorf("%s of %s runs", name, dir)
			}
		}
	}
	for name := range unused {
		t.Errorf("%s is no shape", name)
	}
}

// shapes lists the packages in testdata/src.
func shapes(t *testing.T) []string {
	t.Helper()
	entries, err := os.ReadDir("testdata/src")
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

// TestFixes applies each fix, compares with what is in the .golden files, and holds those to
// have nothing left to find.
func TestFixes(t *testing.T) {
	ofSync(t)
	all := together(poolvet.Analyzers()...)
	analysistest.RunWithSuggestedFixes(t, analysistest.TestData(), all, "./src/fixes")

	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata")); err != nil {
		t.Fatal(err)
	}
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	mod := "module testdata.example\n\ngo 1.26.0\n\nrequire github.com/dewpond/dewpond v0.0.0\n\nreplace github.com/dewpond/dewpond => " + root + "\n"
	if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600); err != nil {
		t.Fatal(err)
	}
	wants := regexp.MustCompile("// want .*")
	for _, name := range []string{"a.go", "b.go", "c.go"} {
		fixed, err := os.ReadFile("testdata/src/fixes/" + name + ".golden")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "src/fixes", name), wants.ReplaceAll(fixed, nil), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	analysistest.Run(t, dir, all, "./src/fixes")
}

// TestNoFix holds findings whose fix would be wrong to have none.
func TestNoFix(t *testing.T) {
	ofSync(t)
	for _, r := range analysistest.Run(t, analysistest.TestData(), together(poolvet.Analyzers()...), "./src/nofix") {
		for _, d := range r.Diagnostics {
			if len(d.SuggestedFixes) > 0 {
				t.Errorf("%v: %s has the fix %q", r.Pass.Fset.Position(d.Pos), d.Message, d.SuggestedFixes[0].Message)
			}
		}
	}
}

func TestAnalyzersAreValid(t *testing.T) {
	checks := append(poolvet.Analyzers(), poolvet.OnRequest()...)
	if err := analysis.Validate(checks); err != nil {
		t.Fatal(err)
	}
	for _, c := range checks {
		if c.URL == "" {
			t.Errorf("%s has no URL", c.Name)
		}
	}
}
