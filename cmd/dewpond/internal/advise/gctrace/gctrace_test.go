package gctrace

import (
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

const line = "gc 7 @0.123s 4%: 0.018+1.1+0.005 ms clock, 0.036+0.45/0.89/2.1+0.011 ms cpu, 12->14->6 MB, 13 MB goal, 1 MB stacks, 2 MB globals, 2 P"

func read(t *testing.T, text string) ([]Cycle, Count) {
	t.Helper()
	var all []Cycle
	n, err := Read(strings.NewReader(text), func(c Cycle) { all = append(all, c) })
	if err != nil {
		t.Fatal(err)
	}
	return all, n
}

func TestRead(t *testing.T) {
	us := time.Microsecond
	want := Cycle{Number: 7, Start: 123 * time.Millisecond, Clock: 1123 * us, Pause: 23 * us, Working: 36*us + 450*us + 890*us + 11*us, Idle: 2100 * us,
		Begin: 12, End: 14, Live: 6, Goal: 13, Stacks: 1, Globals: 2, Procs: 2}
	forced := want
	forced.Forced = true
	leaks := strings.Replace(line, "4%:", "4% (checking for goroutine leaks):", 1)
	for name, of := range map[string]struct {
		text string
		want []Cycle
		n    Count
	}{
		"a line":                {line + "\n", []Cycle{want}, Count{Cycles: 1, Lines: 1}},
		"no line's end":         {line, []Cycle{want}, Count{Cycles: 1, Lines: 1}},
		"forced":                {line + " (forced)\n", []Cycle{forced}, Count{Cycles: 1, Lines: 1}},
		"leaks":                 {leaks, []Cycle{want}, Count{Cycles: 1, Lines: 1}},
		"other lines":           {"listening\n" + line + "\n\nscvg: gc now\n" + line + "\n", []Cycle{want, want}, Count{Cycles: 2, Lines: 5}},
		"behind other text":     {"2026/11/25 gc gc 9 done" + line + "\n", []Cycle{want}, Count{Cycles: 1, Lines: 1}},
		"other text behind it":  {line + " and more\n", []Cycle{want}, Count{Cycles: 1, Lines: 1}},
		"other text within it":  {line[:40] + "oops" + line[40:] + "\n" + line + "\n", []Cycle{want}, Count{Cycles: 1, Broken: 1, Lines: 2}},
		"a line that is cut":    {line[:60] + "\n" + line + "\n", []Cycle{want}, Count{Cycles: 1, Broken: 1, Lines: 2}},
		"two that are one":      {line[:60] + line + "\n", []Cycle{want}, Count{Cycles: 1, Lines: 1}},
		"Windows":               {line + "\r\n", []Cycle{want}, Count{Cycles: 1, Lines: 1}},
		"a very long other one": {strings.Repeat("x", 3*longest) + "\n" + line, []Cycle{want}, Count{Cycles: 1, Lines: 2}},
		"impossible numbers":    {strings.Replace(line, "12->", "99999999999999->", 1) + "\n" + line, []Cycle{want}, Count{Cycles: 1, Broken: 1, Lines: 2}},
	} {
		all, n := read(t, of.text)
		if fmt.Sprint(all) != fmt.Sprint(of.want) || n != of.n {
			t.Errorf("%s: %+v %+v\nwant %+v %+v", name, all, n, of.want, of.n)
		}
	}
}

func TestNone(t *testing.T) {
	for _, text := range []string{"", "hello\n", "gc 5 at noon\n", line[:90]} {
		if n, err := Read(strings.NewReader(text), func(Cycle) {}); !errors.Is(err, ErrNone) || n.Cycles != 0 {
			t.Errorf("%q: %+v, %v", text, n, err)
		}
		if Is([]byte(text)) {
			t.Errorf("%q is taken for gctrace", text)
		}
	}
	if !Is([]byte("x\n" + line)) {
		t.Error("gctrace is not recognised")
	}
	broken := errors.New("broken")
	if _, err := Read(io.MultiReader(strings.NewReader(line), failing{broken}), func(Cycle) {}); !errors.Is(err, broken) {
		t.Errorf("an error of the reader is %v", err)
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

// repeated is a text that is never whole in memory.
type repeated struct {
	text string
	left int
	at   int
}

func (r *repeated) Read(b []byte) (int, error) {
	if r.left == 0 {
		return 0, io.EOF
	}
	n := copy(b, r.text[r.at:])
	if r.at += n; r.at == len(r.text) {
		r.at = 0
		r.left--
	}
	return n, nil
}

// The text is read as a stream: what is allocated does not grow with it.
func TestReadAllocatesLittle(t *testing.T) {
	text := line + "\nother output of the program\n"
	allocated := func(times int) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n, err := Read(&repeated{text: text, left: times}, func(Cycle) {})
		runtime.ReadMemStats(&after)
		if err != nil || n.Cycles != int64(times) {
			t.Fatal(n, err)
		}
		return after.TotalAlloc - before.TotalAlloc
	}
	if few, many := allocated(100), allocated(100_000); many > few+1<<20 {
		t.Errorf("100 lines allocate %d bytes, 100,000 lines %d", few, many)
	}
}

func FuzzRead(f *testing.F) {
	f.Add([]byte(line + "\n"))
	f.Add([]byte("x" + line[:50] + line + " (forced)\n\x00gc 1 @"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var last Cycle
		n, err := Read(strings.NewReader(string(text)), func(c Cycle) {
			if c.Begin < 0 || c.Clock < c.Pause || c.Working < 0 || c.Idle < 0 || c.Procs < 0 {
				t.Errorf("%+v", c)
			}
			last = c
		})
		if (err == nil) != (n.Cycles > 0) || n.Cycles+n.Broken > n.Lines {
			t.Errorf("%+v, %v, the last %+v", n, err, last)
		}
		if Is(text) && n.Cycles == 0 {
			t.Error("it is gctrace, and has no cycle")
		}
	})
}
