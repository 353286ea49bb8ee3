// Package driver runs poolvet's checks, as a tool of go vet and by itself.
package driver

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/unitchecker"

	"github.com/dewpond/dewpond/poolvet"
	"github.com/dewpond/dewpond/poolvet/internal/flow"
)

const aboutPools = "more pools: path.Type.Put:0 puts its first argument back, path.Type.Get:get gets"

// Main runs the command with its arguments and returns its exit status: 0, 1 if something was
// found, 2 if it could not look.
func Main(args []string) int {
	if forVet(args) {
		flag.Var(flow.More, "pools", aboutPools)
		analyzers, rest := forVetAnalyzers(args)
		os.Args = append(os.Args[:1:1], rest...)
		unitchecker.Main(analyzers...)
	}
	return alone(args, os.Stdout, os.Stderr)
}

// forVet reports whether go vet has started the command: with -V=full, with -flags, or with
// flags and one file of configuration.
func forVet(args []string) bool {
	return len(args) > 0 && (strings.HasPrefix(args[0], "-V=") || args[0] == "-flags" || strings.HasSuffix(args[len(args)-1], ".cfg"))
}

// forVetAnalyzers are the checks that are on, and those on request if they are named, or if go vet asks
// which flags there are. vet runs what is named alone, so rest leaves out flags that only add a check.
func forVetAnalyzers(args []string) (all []*analysis.Analyzer, rest []string) {
	all, rest = poolvet.Analyzers(), slices.Clone(args)
	for _, a := range poolvet.OnRequest() {
		added := false
		rest = slices.DeleteFunc(rest, func(arg string) bool {
			name, value, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
			if name != a.Name || !strings.HasPrefix(arg, "-") {
				return false
			}
			added = value == "" || value == "true"
			return true
		})
		if added || slices.Contains(args, "-flags") {
			all = append(all, a)
		}
	}
	return all, rest
}

const usage = `usage: poolvet [flags] [packages]

Find misuse of pools by reading code: use after Put, a second Put, values
returned although they are put back, and more.

    poolvet ./...                             the module that you are in
    go vet -vettool=$(which poolvet) ./...    the same as a part of go vet

A check's name as a flag adds it, as in -noreset; -useafterput=false removes it.
Exit code 1: misuse found; 2: the code or a flag could not be read.

`

// alone loads packages and runs the checks on them.
func alone(args []string, stdout, stderr io.Writer) int {
	f := flag.NewFlagSet("poolvet", flag.ContinueOnError)
	f.SetOutput(stderr)
	asJSON := f.Bool("json", false, "write JSON to standard output")
	apply := f.Bool("fix", false, "apply the fixes that findings suggest, and report the other findings")
	verbose := f.Bool("v", false, "report functions that were skipped, and why")
	version := f.Bool("version", false, "print the version and exit")
	c := Config{}
	f.BoolVar(&c.Tests, "test", true, "check tests too")
	f.BoolVar(&c.Shallow, "shallow", false, "do not analyze functions of other modules: faster, but what they put back or return is unknown")
	f.Var(flow.More, "pools", aboutPools)
	all := append(poolvet.Analyzers(), poolvet.OnRequest()...)
	selected := map[*analysis.Analyzer]*bool{}
	for i, a := range all {
		title, _, _ := strings.Cut(a.Doc, "\n")
		selected[a] = f.Bool(a.Name, i < len(poolvet.Analyzers()), title)
		a.Flags.VisitAll(func(g *flag.Flag) { f.Var(g.Value, a.Name+"."+g.Name, g.Usage) })
	}
	f.Usage = func() {
		fmt.Fprint(stderr, usage)
		f.PrintDefaults()
	}
	if err := f.Parse(args); err != nil {
		if err == flag.ErrHelp {
			return 0
		}
		return 2
	}
	if *version {
		fmt.Fprintln(stdout, versionText())
		return 0
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50) // a quarter less memory, for an eighth more CPU time
	}
	c.Patterns = f.Args()
	if len(c.Patterns) == 0 {
		c.Patterns = []string{"."}
	}
	found, pkgs, err := Run(c, slices.DeleteFunc(all, func(a *analysis.Analyzer) bool { return !*selected[a] }))
	if err == nil && *apply {
		found, err = fix(found)
	}
	if err != nil {
		fmt.Fprintln(stderr, "poolvet:", err)
		return 2
	}
	return tell(found, pkgs, c, *asJSON, *verbose, stdout, stderr)
}

func tell(found []Finding, pkgs []*Package, c Config, asJSON, verbose bool, stdout, stderr io.Writer) int {
	status := 0
	if len(found) > 0 {
		status = 1
	}
	for _, p := range pkgs {
		for _, err := range p.Errors {
			fmt.Fprintln(stderr, err)
			status = 2
		}
		if p.Note != "" {
			fmt.Fprintln(stderr, p.Note)
		}
		if p.Result == nil || !verbose {
			continue
		}
		for _, f := range p.Result.GivenUp {
			fmt.Fprintln(stderr, f)
		}
	}
	if c.Shallow {
		fmt.Fprintln(stderr, "poolvet: functions of other modules were not looked into: which of them put back, keep or return what they get is not known")
	}
	slices.SortFunc(found, func(x, y Finding) int {
		return cmp.Or(strings.Compare(x.Position.Filename, y.Position.Filename), x.Position.Line-y.Position.Line, x.Position.Column-y.Position.Column)
	})
	if asJSON {
		writeJSON(found, stdout)
		return status
	}
	here, _ := os.Getwd()
	for _, f := range found {
		p := f.Position
		if rel, err := filepath.Rel(here, p.Filename); err == nil && !strings.HasPrefix(rel, "..") {
			p.Filename = rel
		}
		fmt.Fprintf(stderr, "%v: %s\n", p, f.Diagnostic.Message)
	}
	return status
}

// writeJSON writes what go vet -json does: packages, checks, findings.
func writeJSON(found []Finding, w io.Writer) {
	type entry struct {
		Posn    string `json:"posn"`
		Message string `json:"message"`
	}
	tree := map[string]map[string][]entry{}
	for _, f := range found {
		if tree[f.Package] == nil {
			tree[f.Package] = map[string][]entry{}
		}
		tree[f.Package][f.Check] = append(tree[f.Package][f.Check], entry{f.Position.String(), f.Diagnostic.Message})
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	e.Encode(tree)
}

// versionText returns the program's version as the Go command knows it, that of its module or in a clone the
// commit, and the version of Go.
func versionText() string {
	v := "of an unknown version"
	if info, ok := debug.ReadBuildInfo(); ok {
		v = info.Main.Version
		for _, s := range info.Settings {
			if v == "(devel)" && s.Key == "vcs.revision" {
				v = s.Value
			}
		}
	}
	return fmt.Sprintf("poolvet %s, %s %s/%s", v, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
