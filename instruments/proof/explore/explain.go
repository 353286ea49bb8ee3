//go:build dewpond_explore

package main

import (
	"fmt"
	"io"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
)

// stretches returns a schedule in short form: which thread runs, and for how many
// steps.
func stretches(schedule []int) string {
	var b strings.Builder
	for i := 0; i < len(schedule); {
		j := i
		for j < len(schedule) && schedule[j] == schedule[i] {
			j++
		}
		fmt.Fprintf(&b, "%d x%d, ", schedule[i], j-i)
		i = j
	}
	return strings.TrimSuffix(b.String(), ", ")
}

// explain runs a schedule once more and prints each step of it. Objects are numbered in
// the order in which they appear.
func explain(out io.Writer, p program, schedule []int) {
	r, check := p()
	r.explain = true
	for _, t := range r.threads { // their first accesses were announced already
		t.pending.where = "(start)"
	}
	for _, chosen := range schedule {
		if t := r.threads[chosen]; t.done {
			fmt.Fprintln(out, "  the program has changed: the schedule does not fit")
			return
		}
		r.step(chosen)
	}
	if r.failure == "" {
		r.finish(check)
	}
	objects := map[any]int{}
	if len(r.trace) > told {
		fmt.Fprintf(out, "  (the last %d of %d steps)\n", told, len(r.trace))
	}
	for i, e := range r.trace {
		what := "goes on after a wait"
		if o := e.access.object; o != nil {
			if _, ok := objects[o]; !ok {
				objects[o] = len(objects) + 1
			}
			what = fmt.Sprintf("%-6v #%d", e.access.kind, objects[o])
		}
		if i < len(r.trace)-told {
			continue
		}
		if i > 0 && r.trace[i-1].thread != e.thread {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "  %3d  thread %d  %-12s %s\n", i+1, e.thread, what, e.access.where)
	}
	if r.failure != "" {
		fmt.Fprintf(out, "  then: %s\n", r.failure)
	}
	r.end()
}

// told is the most steps that explain prints.
const told = 300

// seam matches the functions in which the library calls the explorer.
var seam = regexp.MustCompile(`/internal/(atomics|percpu)\.`)

// where returns the lines of the library, and of the scenario's world, that lead to the
// access which is being announced.
func where() string {
	var pcs [32]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(2, pcs[:])])
	var at []string
	for {
		f, more := frames.Next()
		file := filepath.Base(f.File)
		library := strings.HasPrefix(f.Function, "github.com/dewpond/dewpond") && !seam.MatchString(f.Function)
		if library || file == "operations.go" || file == "gate.go" {
			name := f.Function[strings.LastIndexByte(f.Function, '.')+1:]
			at = append(at, fmt.Sprintf("%s %s:%d", name, file, f.Line))
		}
		if !more || len(at) == 3 {
			return strings.Join(at, " < ")
		}
	}
}
