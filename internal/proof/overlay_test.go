package proof

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sources are the files outside the engine that the explorer schedules, relative to
// the root, with the imports that twin replaces.
var sources = map[string][]string{
	"lease.go":                  {`"sync/atomic"`, `atomic "` + twin + `"`},
	"internal/memory/blocks.go": {`"sync/atomic"`, `atomic "` + twin + `"`},
	"collections.go":            {`"runtime"`, `runtime "` + twin + `"`}, // no collection calls the engine
	"decay.go": {
		`"sync/atomic"`, `atomic "` + twin + `"`, `"sync"`, `sync "` + twin + `"`, `"runtime"`, `runtime "` + twin + `"`,
		"time.AfterFunc(", "runtime.AfterFunc(",
	},
}

const twin = "github.com/dewpond/dewpond/internal/proof/explore/twin"

// buildPool compiles the explorer with twin in place of sync and sync/atomic, and with
// one mutant, if there is one.
func buildPool(t *testing.T, m *Mutant) (program string) {
	t.Helper()
	replaced := map[string]string{}
	if m != nil {
		replaced = mutate(t, *m, "../..")
	}
	for name, imports := range sources {
		path, err := filepath.Abs(filepath.Join("../..", name))
		if err != nil {
			t.Fatal(err)
		}
		from := path
		if mutated := replaced[path]; mutated != "" {
			from = mutated
		}
		source, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		text := string(source)
		for i := 0; i < len(imports); i += 2 {
			if strings.Count(text, imports[i]) != 1 {
				t.Fatalf("%s does not have %s once: the code has moved on, so must sources", name, imports[i])
			}
			text = strings.Replace(text, imports[i], imports[i+1], 1)
		}
		file := filepath.Join(t.TempDir(), filepath.Base(name))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		replaced[path] = file
	}
	return build(t, replaced)
}

// TestPoolIsExplored: nothing goes wrong in any interleaving of what a Lease's word, the
// state of a block off the heap and decay's timer are for.
func TestPoolIsExplored(t *testing.T) {
	// The child compiles these; reading them here tells go test's cache about it.
	for _, pattern := range []string{"../../*.go", "../memory/*.go", filepath.Join(engineDir, "*.go"), "explore/*.go", "explore/twin/*.go"} {
		files, _ := filepath.Glob(pattern)
		if len(files) == 0 {
			t.Fatalf("no %s", pattern)
		}
		for _, file := range files {
			if _, err := os.ReadFile(file); err != nil {
				t.Fatal(err)
			}
		}
	}
	args := []string{"-pool"}
	if *long {
		args = append(args, "-long")
	}
	cmd := exec.Command(buildPool(t, nil), args...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	t.Logf("\n%s", out)
	if err != nil {
		t.Error(err)
	}
	if !*long && strings.Contains(string(out), "NOT all") || strings.Count(string(out), " ok, ") < 9 {
		t.Error("not every scenario was explored to its end")
	}
}

// TestPoolMutantsAreFound is TestMutantsAreFound for what TestPoolIsExplored explores.
func TestPoolMutantsAreFound(t *testing.T) {
	for _, m := range PoolMutants {
		t.Run(m.Name, func(t *testing.T) {
			t.Parallel()
			find(t, m, buildPool(t, &m), "-pool")
		})
	}
}
