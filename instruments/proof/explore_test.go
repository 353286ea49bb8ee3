package proof

import (
	"errors"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var long = flag.Bool("dewpond.long", false, "test everything for longer: minutes")

// startsProcesses skips a test that starts the Go tool, or what it has built, where -short leaves such tests out.
func startsProcesses(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
}

var mutants = flag.String("dewpond.mutants", "some", "some: find every eighth seeded bug; all: each of them, as .ci/run mutants does, which takes minutes")

const engineDir = "../../internal/magazine"

// engineTag leaves out of the explorer the scenarios that need the root package. It halves the
// time to build one.
const engineTag = "dewpond_explore,dewpond_engine"

// build compiles the explorer, with some of its files and the engine's replaced.
func build(t *testing.T, tags string, replaced map[string]string) (program string) {
	t.Helper()
	program, err := BuildExplorer("../..", t.TempDir(), tags, replaced)
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func readExplored(t *testing.T) {
	t.Helper()
	if err := ReadExplored("../.."); err != nil {
		t.Fatal(err)
	}
}

// TestSearchMissesNothing checks that on random programs the search finds every
// execution that running all orders finds, and that a search that chose the wrong
// thread to reverse a race would not.
func TestSearchMissesNothing(t *testing.T) {
	startsProcesses(t)
	programs := "150"
	if *long {
		programs = "3000"
	}
	out, err := exec.Command(build(t, engineTag, nil), "-selfcheck", programs).CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Error(err)
	}
	broken := build(t, engineTag, mutate(t, Mutant{File: "explore/search.go", Old: "first := r.firstWithout(i, p)", New: "first := uint(1) << p"}, "."))
	if out, err := exec.Command(broken, "-selfcheck", programs).CombinedOutput(); err == nil {
		t.Errorf("not found: %s", out)
	}
}

// mutate writes the mutant's file and returns which file to replace by it.
func mutate(t *testing.T, m Mutant, dir string) (replaced map[string]string) {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(dir, m.File))
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), m.Old); n != 1 {
		t.Fatalf("%s has the mutant's Old %d times, want once: the code has moved on, so must mutants.go:\n%s", m.File, n, m.Old)
	}
	mutated := filepath.Join(t.TempDir(), filepath.Base(m.File))
	if err := os.WriteFile(mutated, []byte(strings.Replace(string(source), m.Old, m.New, 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	return map[string]string{path: mutated}
}

// TestMutantsApply checks that the code has what each mutant replaces, which takes no
// time: [TestMutantsAreFound] and the others say so late.
func TestMutantsApply(t *testing.T) {
	for _, list := range []struct {
		mutants []Mutant
		dir     string
	}{{Mutants, engineDir}, {PoolMutants, "../.."}, {AdmissionMutants, "../../internal/admission"}, {historyMutants, "../.."}, {guardMutants, guardDir}} {
		for _, m := range list.mutants {
			t.Run(m.Name, func(t *testing.T) { mutate(t, m, list.dir) })
		}
	}
}

// TestMutantsAreFound checks that each seeded bug makes some interleaving go wrong. A
// test that passes on every engine proves nothing about this one. It takes every eighth of
// them, or all with -dewpond.mutants=all.
func TestMutantsAreFound(t *testing.T) {
	startsProcesses(t)
	mutantsAreFound(t, Mutants, engineDir, engineTag)
}

// TestPoolMutantsAreFound is TestMutantsAreFound for what a pool adds to its engine.
func TestPoolMutantsAreFound(t *testing.T) {
	startsProcesses(t)
	mutantsAreFound(t, PoolMutants, "../..", "dewpond_explore")
}

// TestAdmissionMutantsAreFound is TestMutantsAreFound for internal/admission: which
// caller may have a block, and which waits for one.
func TestAdmissionMutantsAreFound(t *testing.T) {
	startsProcesses(t)
	mutantsAreFound(t, AdmissionMutants, "../../internal/admission", engineTag)
}

func mutantsAreFound(t *testing.T, list []Mutant, dir, tags string) {
	readExplored(t)
	for _, m := range chosen(t, list) {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			find(t, m, build(t, tags, mutate(t, m, dir)))
		})
	}
}

// chosen returns the mutants that -dewpond.mutants asks for.
func chosen(t *testing.T, list []Mutant) (some []Mutant) {
	t.Helper()
	switch *mutants {
	case "all":
		return list
	case "some":
		for i := 0; i < len(list); i += 8 {
			some = append(some, list[i])
		}
		return some
	}
	t.Fatalf("-dewpond.mutants %s: give some or all", *mutants)
	return nil
}

// find runs the explorer that was built with a mutant, which one of its scenarios must
// find.
func find(t *testing.T, m Mutant, program string) {
	for _, scenario := range m.Scenarios {
		// This is ten times as many executions as the hardest mutant takes: a search
		// that does not end is as good as one that finds nothing.
		out, err := exec.Command(program, "-scenario", scenario, "-most", "1000000").CombinedOutput()
		var exit *exec.ExitError
		if errors.As(err, &exit) && strings.Contains(string(out), "FOUND") {
			found, _, _ := strings.Cut(string(out[strings.Index(string(out), "FOUND"):]), "\n")
			t.Log(scenario, found)
			return
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	t.Errorf("not found by %v", m.Scenarios)
}
