package experiments

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// symbols asks the toolchain for names that articles rely on, and compiles what they print. Beside each name
// stands one that is there, and beside each listing one that compiles: what finds the one finds the other.
var symbols = experiment.Experiment{
	ID:       "symbols",
	Question: "Do the names that articles rely on exist, and do their listings compile?",
	Claims: []experiment.Claim{
		symbol("symbols/pool-local", "sync.Pool's poolLocal has a slice of interfaces as shared, and a mutex for it", sizing, "a mutex in poolLocal",
			"shared is a chain of lock-free queues since Go 1.13; the only lock is taken when a pool is used for the first time on a processor."),
		symbol("symbols/scan-buffer", "database/sql has Rows.ScanBuffer since Go 1.22", sizing, "Rows.ScanBuffer",
			"Scan into sql.RawBytes, or read pgx's RawValues; contrib/dewsql reads either into blocks."),
		symbol("symbols/linkname", "go:linkname on sync.runtime_poolLocal shows what a pool holds for each processor", sizing, "sync.runtime_poolLocal",
			"Count Gets and calls of New; a variable that is linked to no symbol is empty forever, and says nothing of it."),
		symbol("symbols/panic", "package sync panics with “inconsistent pool state”", sizing, "inconsistent pool state",
			"Run tests in checked mode: package sync keeps no record of what is out."),
		symbol("symbols/memstats", "(stats.NumGC - stats.PauseTotalNs) / stats.NumGC compiles", sizing, "the hit rate of MemStats",
			"Compile a listing before you read it."),
		symbol("symbols/slice-pointer", "unsafe.Pointer(b) of a []byte makes a node of a buffer", trading, "unsafe.Pointer of a slice",
			"A slice is no pointer: store a pointer to its array, and its size beside it."),
		symbol("symbols/pacer", "the pacer of Go 1.21 has gcPercentDelta, and a pacerGoalUtilization of 0.95", matching, "pacerGoalUtilization",
			"The runtime's name is gcGoalUtilization, and it is 0.25: a quarter of the processors. The redesign came with Go 1.18."),
		symbol("symbols/memory-limit", "runtime/debug.SetMemoryLimit(4 << 30) sets a limit", matching, "runtime/debug.SetMemoryLimit",
			"Import runtime/debug and call debug.SetMemoryLimit, or set GOMEMLIMIT."),
		symbol("symbols/pgxpool", "pgxpool.Connect opens a pool", matching, "pgxpool.Connect",
			"pgxpool.New does, since version 5 of pgx; Connect was that of version 4."),
	},
	Cases:  []string{"toolchain"},
	Rounds: 1,
	Each:   time.Second,
	Run:    runSymbols,
	Plots:  []experiment.Plot{{Figure: "found", Title: "What exists", Note: "1 if it does; below each name its control"}},
}

// symbol is a claim that something is there.
func symbol(id, text string, by experiment.Publication, name, do string) experiment.Claim {
	what := lookedBy(name)
	control := what.control
	return experiment.Claim{
		ID: id, Text: text, Publication: by,
		Judge: func(m experiment.Measured) experiment.Finding {
			found, other := experiment.At(name, "found"), experiment.At(control, "found")
			if f, lacking := m.Lacking(found, other); lacking {
				return f
			}
			words, has := map[bool]string{true: "is there", false: "is not there"}, "the toolchain has it"
			if what.listing != "" {
				words, has = map[bool]string{true: "compiles", false: "does not compile"}, "it compiles"
			}
			f := experiment.Finding{
				Measured: name + " " + words[m.Median(name, "found") == 1],
				Control:  control + " " + words[m.Median(control, "found") == 1],
				Do:       do,
			}
			switch {
			case m.Median(control, "found") != 1:
				f.Verdict, f.Why = experiment.CannotTell, "the control is not found either, so it was looked for in the wrong place"
			case m.Median(name, "found") == 1:
				f.Verdict, f.Why = experiment.Reproduced, has
			default:
				f.Verdict, f.Why = experiment.NotReproduced, what.wrong
			}
			return f
		},
		Reach: experiment.Reach{Holds: experiment.Standing{experiment.At(name, "found"): experiment.At(control, "found")}, Fails: experiment.Itself()},
	}
}

// A looked is something that is looked for, with a control that is there: in the source of a package, or as a
// listing that is compiled.
type looked struct {
	name, control string
	wrong         string // with the name, if it is not there
	// In the files of this directory of GOROOT, or of this module's, are want and there.
	dir, module string
	want, there string
	// These are compiled as the body of a function, after the imports.
	imports           string
	listing, compiles string
}

var lookedFor = []looked{
	{name: "a mutex in poolLocal", control: "a poolChain in poolLocal", wrong: "package sync's poolLocal has a poolChain as shared, and no mutex", dir: "src/sync", want: "shared  []any\n\tMutex", there: "shared  poolChain"},
	{name: "Rows.ScanBuffer", control: "Rows.Scan", wrong: "sql.Rows has no method ScanBuffer", imports: `import "database/sql"`, listing: "var rows *sql.Rows; _ = rows.ScanBuffer", compiles: "var rows *sql.Rows; _ = rows.Scan"},
	{name: "sync.runtime_poolLocal", control: "sync.runtime_registerPoolCleanup", wrong: "package sync has no function runtime_poolLocal", dir: "src/sync", want: "func runtime_poolLocal(", there: "func runtime_registerPoolCleanup("},
	{name: "inconsistent pool state", control: "a panic of a nil Pool", wrong: "no text of package sync has these words", dir: "src/sync", want: "inconsistent pool state", there: `panic("nil Pool")`},
	{name: "the hit rate of MemStats", control: "the same with conversions", wrong: "NumGC is a uint32 and PauseTotalNs a uint64, and Go subtracts only what has one type", imports: `import "runtime"`,
		listing: "var s runtime.MemStats; _ = (s.NumGC - s.PauseTotalNs) / s.NumGC", compiles: "var s runtime.MemStats; _ = (uint64(s.NumGC) - s.PauseTotalNs) / uint64(s.NumGC)"},
	{name: "unsafe.Pointer of a slice", control: "unsafe.Pointer of a pointer", wrong: "Go converts a pointer or a uintptr to unsafe.Pointer, and not a slice", imports: `import "unsafe"`, listing: "var b []byte; _ = unsafe.Pointer(b)", compiles: "var b []byte; _ = unsafe.Pointer(&b)"},
	{name: "pacerGoalUtilization", control: "gcGoalUtilization", wrong: "package runtime has no such name", dir: "src/runtime", want: "pacerGoalUtilization", there: "gcGoalUtilization"},
	{name: "runtime/debug.SetMemoryLimit", control: "debug.SetMemoryLimit", wrong: "runtime/debug is the path of an import, and no name of a package: write debug.SetMemoryLimit", imports: `import "runtime/debug"`, listing: "runtime/debug.SetMemoryLimit(4 << 30)", compiles: "debug.SetMemoryLimit(4 << 30)"},
	{name: "pgxpool.Connect", control: "pgxpool.New", wrong: "package pgxpool of pgx v5 has no function Connect", module: "github.com/jackc/pgx/v5", dir: "pgxpool", want: "\nfunc Connect(", there: "\nfunc New("},
}

func lookedBy(name string) looked {
	for _, l := range lookedFor {
		if l.name == name {
			return l
		}
	}
	panic("nothing is looked for by the name " + name)
}

func runSymbols(r *experiment.Run) error {
	root, err := goSays(r, "env", "GOROOT")
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "dewpond-lab-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	set := func(name string, found bool) {
		v := 0.0
		if found {
			v = 1
		}
		r.SetOf(name, "found", v)
	}
	for i, l := range lookedFor {
		if l.dir == "" {
			set(l.name, compiled(r, filepath.Join(dir, fmt.Sprint(i)), l.imports, l.listing))
			set(l.control, compiled(r, filepath.Join(dir, fmt.Sprint(i, "c")), l.imports, l.compiles))
			continue
		}
		in := root
		if l.module != "" {
			if in, err = goSays(r, "list", "-m", "-f", "{{.Dir}}", l.module); err != nil || in == "" {
				continue // outside this repository there is no such module: its claim lacks its figures
			}
		}
		source, err := sourceOf(filepath.Join(in, filepath.FromSlash(l.dir)))
		if err != nil {
			return err
		}
		set(l.name, strings.Contains(source, l.want))
		set(l.control, strings.Contains(source, l.there))
	}
	return nil
}

// goSays returns what a go command prints.
func goSays(r *experiment.Run, args ...string) (string, error) {
	out, err := exec.CommandContext(r.Context, "go", args...).Output()
	return strings.TrimSpace(string(out)), err
}

// sourceOf returns the source of a package, without its tests.
func sourceOf(dir string) (string, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(files) == 0 {
		return "", fmt.Errorf("there is no source in %s", dir)
	}
	var all bytes.Buffer
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		all.Write(text)
	}
	return all.String(), nil
}

// compiled reports whether a listing compiles as the body of a function.
func compiled(r *experiment.Run, dir, imports, body string) bool {
	if os.Mkdir(dir, 0o755) != nil {
		return false
	}
	file := filepath.Join(dir, "listing.go")
	if os.WriteFile(file, []byte("package listing\n\n"+imports+"\n\nfunc f() {\n\t"+body+"\n}\n"), 0o644) != nil {
		return false
	}
	cmd := exec.CommandContext(r.Context, "go", "build", file)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=-mod=mod", "GO111MODULE=on")
	return cmd.Run() == nil
}
