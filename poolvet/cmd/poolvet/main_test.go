package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/poolvet/internal/driver"
)

// asPoolvet in the environment has the test binary be the command.
const asPoolvet = "POOLVET_TEST_COMMAND"

func TestMain(m *testing.M) {
	if os.Getenv(asPoolvet) != "" {
		os.Exit(driver.Main(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// A program is a module of one package in a directory of its own.
type program struct {
	t   *testing.T
	dir string
}

func newProgram(t *testing.T, files map[string]string) program {
	t.Helper()
	if testing.Short() {
		t.Skip("starts the go command")
	}
	p := program{t, t.TempDir()}
	for name, text := range files {
		p.write(name, text)
	}
	p.write("go.mod", "module program.example\n\ngo 1.26\n")
	return p
}

func (p program) write(name, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(filepath.Join(p.dir, name)), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p program) read(name string) string {
	p.t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, name))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(text)
}

// run runs a command in the program's directory.
func (p program) run(name string, args ...string) (status int, stdout, stderr string) {
	p.t.Helper()
	var out, err bytes.Buffer
	c := exec.Command(name, args...)
	c.Dir, c.Stdout, c.Stderr = p.dir, &out, &err
	c.Env = append(os.Environ(), asPoolvet+"=1", "GOWORK=off", "GOFLAGS=")
	if e := c.Run(); e != nil {
		if _, ok := e.(*exec.ExitError); !ok {
			p.t.Fatal(e)
		}
	}
	return c.ProcessState.ExitCode(), out.String(), err.String()
}

// ours is the test binary, which is the command in what run starts.
func ours(t *testing.T) string {
	t.Helper()
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

const late = `package program

import (
	"bytes"
	"sync"
)

var pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func late(b *bytes.Buffer) {
	pool.Put(b)
	b.Reset()
}
`

const lateMended = `	b.Reset()
	pool.Put(b)
}
`

const finding = "a.go:12:9: b is used after its Put at a.go:11:10 (useafterput)"

func TestAlone(t *testing.T) {
	p := newProgram(t, map[string]string{"a.go": late})
	status, out, err := p.run(ours(t), "./...")
	if status != 1 || out != "" || err != finding+"\n" {
		t.Errorf("status %d, %q, %q", status, out, err)
	}
	if status, out, err := p.run(ours(t), "-unfit", "-useafterput=false", "./..."); status != 0 || out+err != "" {
		t.Errorf("without useafterput: status %d, %q, %q", status, out, err)
	}
	if status, _, err := p.run(ours(t), "-nonsense"); status != 2 || !strings.Contains(err, "nonsense") {
		t.Errorf("a flag that does not exist: status %d, %q", status, err)
	}
	status, out, err = p.run(ours(t), "-json", "./...")
	var tree map[string]map[string][]struct{ Posn, Message string }
	if e := json.Unmarshal([]byte(out), &tree); e != nil || status != 1 || err != "" {
		t.Fatalf("status %d, %v, %q, %q", status, e, out, err)
	}
	if f := tree["program.example"]["useafterput"]; len(f) != 1 || !strings.HasSuffix(f[0].Posn, "a.go:12:9") || !strings.Contains(finding, f[0].Message) {
		t.Errorf("%s", out)
	}
}

func TestAloneFixes(t *testing.T) {
	p := newProgram(t, map[string]string{"a.go": late})
	status, out, err := p.run(ours(t), "-fix", "./...")
	if text := p.read("a.go"); status != 0 || out+err != "" || !strings.HasSuffix(text, lateMended) {
		t.Errorf("status %d, %q, %q:\n%s", status, out, err, text)
	}
	if entries, e := os.ReadDir(p.dir); e != nil || len(entries) != 2 {
		t.Errorf("%v, %v beside a.go and go.mod", entries, e)
	}
	if status, _, err := p.run(ours(t), "./..."); status != 0 {
		t.Errorf("after its fixes: status %d, %q", status, err)
	}
}

// Of two fixes of one place one is applied, and the other is told.
func TestAloneFixesOneOfTwo(t *testing.T) {
	p := newProgram(t, map[string]string{"a.go": strings.Replace(late, "\tb.Reset()\n", "\tpool.Put(b)\n\tpool.Put(b)\n", 1)})
	for range 3 {
		if status, _, err := p.run(ours(t), "-fix", "./..."); status == 2 {
			t.Fatal(err)
		}
	}
	if text := p.read("a.go"); strings.Count(text, "pool.Put(b)") != 1 {
		t.Errorf("after three runs:\n%s", text)
	}
}

func TestVet(t *testing.T) {
	p := newProgram(t, map[string]string{"a.go": late})
	status, _, err := p.run("go", "vet", "-vettool="+ours(t), "./...")
	if status != 1 || !strings.Contains(err, finding) {
		t.Errorf("status %d, %q", status, err)
	}
	status, out, _ := p.run("go", "vet", "-json", "-vettool="+ours(t), "./...")
	if status != 0 || !strings.Contains(out, `"useafterput"`) || !strings.Contains(out, "suggested_fixes") {
		t.Errorf("json: status %d, %q", status, out)
	}
	status, _, err = p.run("go", "vet", "-fix", "-vettool="+ours(t), "./...")
	if text := p.read("a.go"); status != 0 || !strings.HasSuffix(text, lateMended) {
		t.Errorf("fix: status %d, %q:\n%s", status, err, text)
	}
	p.write("a.go", late)
	status, _, err = p.run("go", "fix", "-fixtool="+ours(t), "./...")
	if text := p.read("a.go"); status != 0 || !strings.HasSuffix(text, lateMended) {
		t.Errorf("go fix: status %d, %q:\n%s", status, err, text)
	}
}

const left = `package program

import "sync"

type counter struct{ n int }

var counters = sync.Pool{New: func() any { return new(counter) }}

func count() int {
	c := counters.Get().(*counter)
	c.n++
	n := c.n
	counters.Put(c)
	return n
}
`

func TestOnRequest(t *testing.T) {
	const want = "c is put back with what its owner left in n"
	p := newProgram(t, map[string]string{"a.go": left})
	if status, _, err := p.run(ours(t), "./..."); status != 0 {
		t.Errorf("not asked for: status %d, %q", status, err)
	}
	if status, _, err := p.run(ours(t), "-noreset", "./..."); status != 1 || !strings.Contains(err, want) {
		t.Errorf("status %d, %q", status, err)
	}
	if status, _, err := p.run("go", "vet", "-vettool="+ours(t), "./..."); status != 0 {
		t.Errorf("vet, not asked for: status %d, %q", status, err)
	}
	if status, _, err := p.run("go", "vet", "-vettool="+ours(t), "-noreset", "./..."); status != 1 || !strings.Contains(err, want) {
		t.Errorf("vet: status %d, %q", status, err)
	}
}

// TestFlagsAdd holds a check that is asked for to leave the others on, and one that is switched off to
// leave the others on too.
func TestFlagsAdd(t *testing.T) {
	const late, dirty = "b is used after its Put", "c is put back with what its owner left in n"
	p := newProgram(t, map[string]string{"a.go": left, "b.go": used})
	for _, command := range [][]string{{ours(t)}, {"go", "vet", "-vettool=" + ours(t)}} {
		_, _, err := p.run(command[0], append(command[1:], "-noreset", "./...")...)
		if !strings.Contains(err, late) || !strings.Contains(err, dirty) {
			t.Errorf("%s: %q, want %q and %q", command[0], err, late, dirty)
		}
	}
	if _, _, err := p.run(ours(t), "-noreset", "-useafterput=false", "./..."); strings.Contains(err, late) || !strings.Contains(err, dirty) {
		t.Errorf("%q, want %q and not %q", err, dirty, late)
	}
}

// TestImportsBroken holds a package of which nothing is known, because what it imports does not compile,
// to be one line.
func TestImportsBroken(t *testing.T) {
	p := newProgram(t, map[string]string{"user/a.go": entries, "broken/a.go": broken})
	status, _, err := p.run(ours(t), "./...")
	if want := "program.example/user was not checked: it imports program.example/broken, which does not compile"; status != 2 || !strings.Contains(err, want) {
		t.Errorf("status %d, %q, want %q", status, err, want)
	}
	if strings.Contains(err, "internal error") {
		t.Errorf("%q", err)
	}
}

const used = `package program

import (
	"bytes"
	"sync"
)

var buffers = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func late() int {
	b := buffers.Get().(*bytes.Buffer)
	buffers.Put(b)
	return b.Len()
}
`

const broken = `package broken

import "nowhere.example/push"

type Entry = push.Entry

type Stream struct{ Entries []Entry }
`

const entries = `package user

import "program.example/broken"

func f() any { return broken.Stream{Entries: []broken.Entry{{}}} }
`

const foreign = `package program

type pool struct{ idle [][]byte }

func (p *pool) take() []byte  { return p.idle[0] }
func (p *pool) give(b []byte) { p.idle = append(p.idle, b) }

func late(p *pool) byte {
	b := p.take()
	p.give(b)
	return b[0]
}
`

func TestPools(t *testing.T) {
	p := newProgram(t, map[string]string{"a.go": foreign})
	if status, _, err := p.run(ours(t), "./..."); status != 0 {
		t.Errorf("not told: status %d, %q", status, err)
	}
	const flag, want = "-pools=program.example.pool.give:0,program.example.pool.take:get", "b is used after its Put"
	if status, _, err := p.run(ours(t), flag, "./..."); status != 1 || !strings.Contains(err, want) {
		t.Errorf("status %d, %q", status, err)
	}
	if status, _, err := p.run("go", "vet", "-vettool="+ours(t), flag, "./..."); status != 1 || !strings.Contains(err, want) {
		t.Errorf("vet: status %d, %q", status, err)
	}
	if status, _, err := p.run(ours(t), "-pools=nonsense", "./..."); status != 2 || !strings.Contains(err, "path.Type.Put:0") {
		t.Errorf("nonsense: status %d, %q", status, err)
	}
}

// What does not compile is an error, with the compiler's reason, and never a panic.
func TestDoesNotCompile(t *testing.T) {
	p := newProgram(t, map[string]string{"a.go": strings.Replace(late, "b.Reset()", "b.Reset(", 1)})
	if status, _, err := p.run(ours(t), "./..."); status != 2 || !strings.Contains(err, "a.go:13") || panicked(err) {
		t.Errorf("does not parse: status %d, %q", status, err)
	}
	p.write("a.go", strings.Replace(late, "b.Reset()", "b.Nothing()", 1))
	if status, _, err := p.run(ours(t), "./..."); status != 2 || !strings.Contains(err, "Nothing") || panicked(err) {
		t.Errorf("a method that does not exist: status %d, %q", status, err)
	}
	p.write("a.go", strings.Replace(late, `"sync"`, "\"sync\"\n\t\"program.example/nowhere\"", 1))
	if status, _, err := p.run(ours(t), "./..."); status != 2 || !strings.Contains(err, "nowhere") || panicked(err) {
		t.Errorf("a package that does not exist: status %d, %q", status, err)
	}
}

func panicked(err string) bool {
	return strings.Contains(err, "panic") || strings.Contains(err, "internal error")
}

func TestNoGoFiles(t *testing.T) {
	p := newProgram(t, map[string]string{"a.go": "//go:build neither\n\n" + late})
	if status, _, err := p.run(ours(t), "./..."); status != 0 || err != "" {
		t.Errorf("none for this machine, among all: status %d, %q", status, err)
	}
	if status, _, err := p.run(ours(t), "."); status != 2 || !strings.Contains(err, "build constraints exclude all Go files") || panicked(err) {
		t.Errorf("none for this machine: status %d, %q", status, err)
	}
	if err := os.Remove(filepath.Join(p.dir, "a.go")); err != nil {
		t.Fatal(err)
	}
	if status, _, err := p.run(ours(t), "./..."); status != 0 || panicked(err) {
		t.Errorf("none at all: status %d, %q", status, err)
	}
}

// usesC has what C gives in each place that a type can be in.
const usesC = `package program

/*
typedef struct { int n; } thing;
static int one(void) { return 1; }
*/
import "C"

import (
	"bytes"
	"sync"
)

var (
	pool   = sync.Pool{New: func() any { return new(bytes.Buffer) }}
	things = sync.Pool{New: func() any { return new(C.thing) }}
	first  = C.one()
	again  = first + 1
)

const size = C.sizeof_thing

type holder struct {
	c    *C.thing
	n    C.int
	word [size]byte
}

func (h *holder) count() int { return int(h.n) + int(h.c.n) }

func (h *holder) buffer(b *bytes.Buffer) {
	pool.Put(b)
	b.Reset()
}

func lateInC(b *bytes.Buffer) {
	pool.Put(b)
	if C.one() == 1 {
		b.Reset()
	}
}

func taken(t *C.thing, of map[C.int][]C.char) (C.int, error) {
	n, err := C.one()
	return n + t.n + first, err
}

func takes() int {
	h := holder{c: &C.thing{n: 1}}
	f := func(c C.int) int { return int(c) }
	if n, err := taken(h.c, nil); err == nil {
		return f(n)
	}
	return h.count() + int(again)
}

func late(b *bytes.Buffer) {
	pool.Put(b)
	b.Reset()
}
`

// Of a package that uses C what does not is looked at, and -v says what is not.
func TestCgo(t *testing.T) {
	const left = " uses C, of which go vet -vettool alone has the types: it was not looked at\n"
	p := newProgram(t, map[string]string{"a.go": usesC})
	status, _, err := p.run(ours(t), "./...")
	if want := "a.go:33:9: b is used after its Put at a.go:32:10 (useafterput)\na.go:59:9: b is used after its Put at a.go:58:10 (useafterput)\n"; status != 1 || err != want {
		t.Errorf("status %d, %q, want %q", status, err, want)
	}
	status, _, err = p.run(ours(t), "-v", "./...")
	for _, name := range []string{"count", "lateInC", "taken", "takes"} {
		if !strings.Contains(err, ": "+name+left) {
			t.Errorf("-v: status %d, nothing of %s: %q", status, name, err)
		}
	}
	if n := strings.Count(err, left); status != 1 || n != 4 {
		t.Errorf("-v: status %d, %d functions, %q", status, n, err)
	}

	p.write("a.go", "package program\n\n// int one(void);\nimport \"C\"\n\nfunc F() int { return int(C.one()) }\n")
	if status, _, err := p.run(ours(t), "./..."); status != 0 || err != "" {
		t.Errorf("C alone: status %d, %q", status, err)
	}
	p.write("a.go", "package program\n\nimport \"C\"\n\n"+strings.TrimPrefix(late, "package program\n"))
	if status, _, err := p.run(ours(t), "./..."); status != 1 || !strings.Contains(err, "b is used after its Put") {
		t.Errorf("C is imported alone: status %d, %q", status, err)
	}
	p.write("a.go", "package program\n\n// int one(void);\nimport \"C\"\n\nfunc F() int { return C.one().n + \"\" }\n")
	if status, _, err := p.run(ours(t), "./..."); status != 0 && !strings.Contains(err, "go vet -vettool alone has") || panicked(err) {
		t.Errorf("C in what makes no sense: status %d, %q", status, err)
	}
}

// As a tool of go vet it has the types of C.
func TestCgoInVet(t *testing.T) {
	p := newProgram(t, map[string]string{"a.go": usesC})
	if out, err := exec.Command("go", "env", "CC").Output(); err != nil {
		t.Fatal(err)
	} else if _, err := exec.LookPath(strings.TrimSpace(string(out))); err != nil {
		t.Skip("needs a C compiler:", err)
	}
	status, _, err := p.run("go", "vet", "-vettool="+ours(t), "./...")
	if n := strings.Count(err, "(useafterput)"); status != 1 || n != 3 || panicked(err) {
		t.Errorf("status %d, %d findings, %q", status, n, err)
	}
}

func TestAssembly(t *testing.T) {
	p := newProgram(t, map[string]string{
		"a.go":                       late + "\nfunc assembled(b *bytes.Buffer)\n",
		"a_" + runtime.GOARCH + ".s": "// none\n",
	})
	if status, _, err := p.run(ours(t), "-v", "./..."); status != 1 || err != finding+"\n" {
		t.Errorf("status %d, %q", status, err)
	}
}

const generic = `package program

import (
	"cmp"
	"sync"
)

type box[T any] struct{ pool sync.Pool }

func (x *box[T]) give(v *T) { x.pool.Put(v) }

type pair[K cmp.Ordered, V ~[]E, E any] struct {
	key K
	val V
	up  *pair[K, V, E]
}

func late[T any, P interface{ *T }](x *box[T], v P, to T) {
	x.give(v)
	*v = to
}

func each[K cmp.Ordered, V ~[]E, E any](x *box[pair[K, V, E]], p *pair[K, V, E]) {
	x.give(p)
	p.up = nil
}

func calls() {
	late(&box[int]{}, new(int), 1)
	each(&box[pair[string, []int, int]]{}, new(pair[string, []int, int]))
}
`

func TestGenerics(t *testing.T) {
	p := newProgram(t, map[string]string{"a.go": generic})
	status, _, err := p.run(ours(t), "./...")
	for _, want := range []string{"a.go:20:2: v is written after its Put", "a.go:25:4: p is written after its Put"} {
		if !strings.Contains(err, want) {
			t.Errorf("status %d, %q, want %q", status, err, want)
		}
	}
	if n := strings.Count(err, "\n"); status != 1 || n != 2 {
		t.Errorf("status %d, %d findings, %q", status, n, err)
	}
}

const overFunctions = `package program

import (
	"bytes"
	"iter"
	"sync"
)

var pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func late(all iter.Seq2[int, string]) int {
	b := pool.Get().(*bytes.Buffer)
	for i, s := range all {
		if i > 3 {
			pool.Put(b)
			return i
		}
		b.WriteString(s)
	}
	pool.Put(b)
	b.Reset()
	return 0
}

func nested(all iter.Seq[iter.Seq[int]]) (n int) {
	defer func() { n++ }()
outer:
	for inner := range all {
		for i := range inner {
			switch i {
			case 1:
				continue outer
			case 2:
				break outer
			case 3:
				defer pool.Put(new(bytes.Buffer))
			case 4:
				goto end
			}
		}
	}
end:
	return n
}

func yields(yield func(*bytes.Buffer) bool) {
	for {
		b := pool.Get().(*bytes.Buffer)
		if !yield(b) {
			pool.Put(b)
			return
		}
		pool.Put(b)
	}
}
`

func TestRangeOverFunctions(t *testing.T) {
	p := newProgram(t, map[string]string{"a.go": overFunctions})
	if status, _, err := p.run(ours(t), "./..."); status != 1 || err != "a.go:21:9: b is used after its Put at a.go:20:10 (useafterput)\n" {
		t.Errorf("status %d, %q", status, err)
	}
}

// A generated function of any size is given up on, which -v says, and the rest is looked at.
func TestHugeFunction(t *testing.T) {
	var huge strings.Builder
	huge.WriteString("package program\n\nfunc interpret(b []byte, code []int) {\n\tfor _, c := range code {\n\t\tswitch c {\n")
	for i := range 4000 {
		fmt.Fprintf(&huge, "\t\tcase %d:\n\t\t\tb[%d]++\n\t\t\tif b[0] > %d {\n\t\t\t\treturn\n\t\t\t}\n", i, i%64, i%200)
	}
	huge.WriteString("\t\t}\n\t}\n}\n")
	p := newProgram(t, map[string]string{"a.go": late, "huge.go": huge.String()})
	if status, _, err := p.run(ours(t), "./..."); status != 1 || err != finding+"\n" {
		t.Errorf("status %d, %q", status, err)
	}
	status, _, err := p.run(ours(t), "-v", "./...")
	if status != 1 || !strings.Contains(err, "huge.go:3:1: interpret has 56009 nodes of syntax, which is too large: it was not looked at") {
		t.Errorf("-v: status %d, %q", status, err)
	}
}
