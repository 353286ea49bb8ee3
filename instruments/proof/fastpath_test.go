package proof

import (
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/fastpath.golden from what the compiler makes now")

// TestFastPathIsAsItWas compares the compiled Get and Put with a golden file: the calls
// (which are not inlined), how many instructions lock a bus or a line, how many
// branches there are, how much of the inliner's budget of 80 the hot functions cost,
// and what escapes. A change shows here before it shows in a benchmark. It may be
// right: look at the difference, and
//
//	go test ./instruments/proof -run FastPath -update
//
// Then docs/internals/hot-path.md, which says what each instruction is for, may be out of date.
func TestFastPathIsAsItWas(t *testing.T) {
	startsProcesses(t)
	const golden = "testdata/fastpath.golden"
	if v := runtime.Version(); !strings.HasPrefix(v, "go1.26") {
		t.Skipf("%s was made by go1.26; this is %s", golden, v)
	}
	readSources(t) // otherwise the test cache may return the result for other sources
	var got strings.Builder
	for _, arch := range []string{"amd64", "arm64"} {
		got.WriteString(instructions(t, arch))
	}
	got.WriteString(compilerSays(t))
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("the fast path has changed:\n%s", difference(string(want), got.String()))
	}
}

// readAllocators opens the files that the golden file depends on.
func readSources(t *testing.T) {
	for _, pattern := range []string{"../../*.go", "testdata/inlined/*.go", "../../internal/atomics/*.go", "../../internal/magazine/*.go", "../../internal/percpu/*.go", "../../internal/sizeclass/*.go", "../../internal/memory/*.go", "../../internal/check/*.go"} {
		names, err := filepath.Glob(pattern)
		if err != nil || names == nil {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, name := range names {
			if _, err := os.ReadFile(name); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func toolchain(t *testing.T, env []string, name string, args ...string) string {
	t.Helper()
	c := exec.Command(name, args...)
	c.Dir = "../.."
	c.Env = append(os.Environ(), env...)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return string(out)
}

var (
	instruction = regexp.MustCompile(`^\s+\S+\.go:\d+\s+0x[0-9a-f]+\s+[0-9a-f]+\s+(\S+)`)
	callee      = regexp.MustCompile(`R_CALL(?:ARM64)?:(\S+)`)
	locked      = map[string]*regexp.Regexp{
		"amd64": regexp.MustCompile(`^(LOCK|XCHG)`),
		"arm64": regexp.MustCompile(`^(LDAX|STLX|LDXR|STXR|CAS|SWP|LDADD|LDCLR|LDOR|DMB)`),
	}
	branch = map[string]*regexp.Regexp{
		"amd64": regexp.MustCompile(`^J`),
		"arm64": regexp.MustCompile(`^(B(EQ|NE|LT|LE|GT|GE|HI|LS|HS|LO|MI|PL|CC|CS|VS|VC)|CBN?ZW?|TBN?Z)$`),
	}
)

// instructions describes Get and Put on one architecture.
func instructions(t *testing.T, arch string) string {
	archive := filepath.Join(t.TempDir(), arch+".a")
	toolchain(t, []string{"GOARCH=" + arch, "GOOS=linux", "GOFLAGS=", "GOWORK=off"}, "go", "build", "-o", archive, ".")
	var text strings.Builder
	for _, method := range []string{"Get", "Put"} {
		out := toolchain(t, nil, "go", "tool", "objdump", "-s", `dewpond\.\(\*BytePool\)\.`+method+`$`, archive)
		calls := map[string]int{}
		var locks, branches int
		for line := range strings.Lines(out) {
			m := instruction.FindStringSubmatch(line)
			switch {
			case m == nil:
				continue
			case locked[arch].MatchString(m[1]):
				locks++
			case branch[arch].MatchString(m[1]) && m[1] != "JMP":
				branches++
			}
			if c := callee.FindStringSubmatch(line); c != nil {
				calls[strings.TrimPrefix(c[1], "github.com/dewpond/dewpond")]++
			}
		}
		if branches == 0 {
			t.Fatalf("%s: objdump says nothing of %s:\n%s", arch, method, out)
		}
		fmt.Fprintf(&text, "%s %s: %d locked, %d branches, calls", arch, method, locks, branches)
		for _, name := range slices.Sorted(maps.Keys(calls)) {
			fmt.Fprintf(&text, " %s×%d", name, calls[name])
		}
		text.WriteString("\n")
	}
	return text.String()
}

// hot matches the functions that must be inlined into Get, Put and the like.
var hot = regexp.MustCompile(`can inline (\(\*Engine\)\.(?:Enter|EnterBeside|Outgrown|OwnSlot|Slot)|section\.Exit(?:Beside)?|\(\*slot\)\.(?:Take|Give|Hits)|Class\.(?:Size|Slot)|\(\*Table\)\.OfSmall|\(\*Blocks\)\.Find|WhenOut|\(\*State\)\.Return|Watched|Pin|Unpin) with cost (\d+)`)

// escape matches allocations.
var escape = regexp.MustCompile(`^((?:\./|internal/magazine/)\w+\.go):(\d+):\d+: (.* escapes to heap|moved to heap: .*)\n`)

// onFastPath matches the functions whose allocations the golden file lists, a panic's
// too: those that Get, Put and the like call as long as a shard serves them.
var onFastPath = regexp.MustCompile(`^(BytePool\.(Get|getMore|prepare|note|Put|putLarge|tryClean|overflow|putCharged|Lease|getLeased|putLeased|newLease|handle|putHandle)|` +
	`Lease\.(Len|Bytes|Retain|Slice|Truncate|share|pin|Release|releaseOnce)|handle\..*|Pool\.(Get|Put|asked|tryClean|acquired)|SlicePool\.(Get|Put|tryClean)|slot\..*|section\..*|Engine\.(Enter|EnterBeside|Outgrown|OwnSlot|Slot|PopSlow|PushSlow))$`)

// compilerSays returns what the hot functions cost, and what moves to the heap in the
// functions of the fast path.
func compilerSays(t *testing.T) string {
	lines := map[string]bool{}
	functions := map[string]func(line int) string{}
	out := toolchain(t, []string{"GOFLAGS=", "GOWORK=off", "GOARCH=amd64"}, "go", "build", "-gcflags=./...=-m=2", "./...")
	for line := range strings.Lines(out) {
		if m := hot.FindStringSubmatch(line); m != nil {
			lines[fmt.Sprintf("inlined: %s costs %s of 80\n", m[1], m[2])] = true
		}
		if m := escape.FindStringSubmatch(line); m != nil {
			if functions[m[1]] == nil {
				functions[m[1]] = functionsOf(t, filepath.Join("../..", m[1]))
			}
			at, _ := strconv.Atoi(m[2])
			if f := functions[m[1]](at); onFastPath.MatchString(f) {
				lines[fmt.Sprintf("escapes: %s: %s\n", f, m[3])] = true
			}
		}
	}
	return strings.Join(slices.Sorted(maps.Keys(lines)), "")
}

// functionsOf returns which function of a file a line is in, such as BytePool.Get, or "".
func functionsOf(t *testing.T, path string) func(line int) string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	return func(line int) string {
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || line < files.Position(f.Pos()).Line || line > files.Position(f.End()).Line {
				continue
			}
			if f.Recv == nil {
				return f.Name.Name
			}
			receiver := f.Recv.List[0].Type
			if pointer, ok := receiver.(*ast.StarExpr); ok {
				receiver = pointer.X
			}
			if generic, ok := receiver.(*ast.IndexExpr); ok {
				receiver = generic.X
			}
			return fmt.Sprint(receiver) + "." + f.Name.Name
		}
		return ""
	}
}

// byHand matches the comment on a copy of a function that the compiler would not inline, with
// what the function costs.
var byHand = regexp.MustCompile(`(?:engine|p|h)\.(\w+)(?: twice)?, inlined\s(?://\s)?by hand \(cost (\d+) of 80\)`)

// TestInlinedByHandSaysItsCost compares the costs in the comments on copies that are inlined by
// hand with what the compiler says. A function that costs 80 or less needs no copy.
func TestInlinedByHandSaysItsCost(t *testing.T) {
	startsProcesses(t)
	if v := runtime.Version(); !strings.HasPrefix(v, "go1.26") {
		t.Skipf("the comments have the costs of go1.26; this is %s", v)
	}
	readSources(t)
	out := toolchain(t, []string{"GOFLAGS=", "GOWORK=off", "GOARCH=amd64"}, "go", "build", "-gcflags=./...=-m=2", "./...")
	names, _ := filepath.Glob("../../*.go")
	found := 0
	for _, name := range names {
		source, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range byHand.FindAllStringSubmatch(string(source), -1) {
			found++
			said := regexp.MustCompile(`cannot inline \(\*(?:Engine|BytePool|handle)\)\.` + m[1] + `: function too complex: cost (\d+) exceeds`).FindStringSubmatch(out)
			if said == nil || said[1] != m[2] {
				t.Errorf("%s says that %s costs %s; the compiler says %q", name, m[1], m[2], said)
			}
		}
	}
	if found < 10 {
		t.Errorf("%d comments were found, want at least 10", found)
	}
}

// difference returns the lines that only one of two texts has.
func difference(want, got string) string {
	var text strings.Builder
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	for _, line := range a {
		if !slices.Contains(b, line) {
			text.WriteString("- " + line + "\n")
		}
	}
	for _, line := range b {
		if !slices.Contains(a, line) {
			text.WriteString("+ " + line + "\n")
		}
	}
	return text.String()
}
