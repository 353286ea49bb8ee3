package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
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
	if status, out, err := p.run(ours(t), "-unfit", "./..."); status != 0 || out+err != "" {
		t.Errorf("unfit alone: status %d, %q, %q", status, out, err)
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

// What does not compile, has no Go files, or is not all Go is no reason to panic.
func TestOddPackages(t *testing.T) {
	p := newProgram(t, map[string]string{"a.go": late})
	p.write("a.go", strings.Replace(late, "b.Reset()", "b.Reset(", 1))
	if status, _, err := p.run(ours(t), "./..."); status != 2 || !strings.Contains(err, "a.go:13") {
		t.Errorf("does not parse: status %d, %q", status, err)
	}
	p.write("a.go", strings.Replace(late, "b.Reset()", "b.Nothing()", 1))
	if status, _, err := p.run(ours(t), "./..."); status != 2 || !strings.Contains(err, "Nothing") {
		t.Errorf("does not compile: status %d, %q", status, err)
	}
	p.write("a.go", "//go:build neither\n\n"+late)
	if _, _, err := p.run(ours(t), "./..."); strings.Contains(err, "panic") {
		t.Errorf("no Go files: %q", err)
	}
	p.write("a.go", "package program\n\nimport \"C\"\n\n"+strings.TrimPrefix(late, "package program\n"))
	if _, _, err := p.run(ours(t), "./..."); !strings.Contains(err, "b is used after its Put") {
		t.Errorf("cgo: %q", err)
	}
	p.write("a.go", late+"\nfunc assembled(b *bytes.Buffer)\n")
	p.write("a_amd64.s", "TEXT ·assembled(SB),0,$0-8\n\tRET\n")
	if status, _, err := p.run(ours(t), "./..."); status != 1 || err != finding+"\n" {
		t.Errorf("assembly: status %d, %q", status, err)
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
	if status != 1 || !strings.Contains(err, "huge.go:3:1: interpret is too large, and was not looked at") {
		t.Errorf("-v: status %d, %q", status, err)
	}
}
