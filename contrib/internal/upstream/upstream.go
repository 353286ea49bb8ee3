// Package upstream runs a library's own tests on an adapter of dewpond. Only tests import it.
//
// No code of the library is kept: its tests are those in the module cache, in the version that
// the adapter's go.mod names. They run in a copy that is deleted afterwards, because the
// tests that make their pool themselves need the adapter's name in its place.
package upstream

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// A T is a *testing.T.
type T interface {
	Helper()
	Context() context.Context
	TempDir() string
	Logf(format string, args ...any)
	Skipf(format string, args ...any)
	Fatalf(format string, args ...any)
}

// A Suite is a library's own tests of one package.
type Suite struct {
	Module  string // "google.golang.org/grpc"
	Package string // in the module: "mem"
	// Replace is what its tests have, and what they have in its place: the adapter.
	Replace map[string]string
	// Adapter is a test file that is put beside them. It makes the adapter, and fails if the
	// tests have not used it.
	Adapter string
	// Skip has the tests of something that the adapter does not replace, as go test's -skip has
	// them.
	Skip string
}

// Run runs the tests in the module of the working directory, if the environment has
// DEWPOND_UPSTREAM: to build them takes minutes. It skips the test where what they import cannot
// be had.
func (s Suite) Run(t T) {
	t.Helper()
	if os.Getenv("DEWPOND_UPSTREAM") == "" {
		t.Skipf("building the library's tests takes minutes: DEWPOND_UPSTREAM=1 has them run, as .ci/nightly upstream does")
	}
	dir, err := s.copy(t)
	if err != nil {
		t.Fatalf("%v", err)
	}
	mod, err := s.goMod(t, dir)
	if err != nil {
		t.Fatalf("%v", err)
	}
	target := s.Module + "/" + s.Package
	if out, err := goCommand(t, "list", "-modfile="+mod, "-mod=mod", "-deps", "-test", target); err != nil {
		t.Skipf("what the tests of %s import cannot be had here: %v: %s", target, err, out)
	}
	args := []string{"test", "-trimpath", "-modfile=" + mod, "-mod=mod", "-v"} // trimmed, builds are found in the cache again
	if s.Skip != "" {
		args = append(args, "-skip="+s.Skip)
	}
	out, err := goCommand(t, append(args, target)...)
	if err != nil {
		t.Fatalf("the tests of %s do not pass on the adapter: %v:\n%s", target, err, out)
	}
	t.Logf("%s: %d tests and subtests pass", target, strings.Count(out, "--- PASS: "))
}

// copy returns a directory with the module, edited.
func (s Suite) copy(t T) (string, error) {
	from, err := goCommand(t, "list", "-m", "-f", "{{.Dir}}", s.Module)
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, from)
	}
	dir := filepath.Join(t.TempDir(), "module")
	if err := os.CopyFS(dir, os.DirFS(strings.TrimSpace(from))); err != nil {
		return "", err
	}
	files, err := filepath.Glob(filepath.Join(dir, s.Package, "*_test.go"))
	if err != nil {
		return "", err
	}
	replaced := map[string]bool{}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		text := string(b)
		for old, in := range s.Replace {
			replaced[old] = replaced[old] || strings.Contains(text, old)
			text = strings.ReplaceAll(text, old, in)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			return "", err
		}
	}
	for old := range s.Replace {
		if !replaced[old] {
			return "", fmt.Errorf("the tests of %s/%s have no %q any more: replace what they have now", s.Module, s.Package, old)
		}
	}
	return dir, os.WriteFile(filepath.Join(dir, s.Package, "dewpond_test.go"), []byte(s.Adapter), 0o666)
}

// goMod returns a go.mod like that of the working directory, for which the module is in dir.
func (s Suite) goMod(t T, dir string) (string, error) {
	wd, err := os.Getwd()
	if err != nil {
		return "", err
	}
	mod := filepath.Join(t.TempDir(), "go.mod")
	for _, suffix := range []string{"mod", "sum"} {
		b, err := os.ReadFile("go." + suffix)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(strings.TrimSuffix(mod, "mod")+suffix, b, 0o666); err != nil {
			return "", err
		}
	}
	root := filepath.Dir(filepath.Dir(wd))
	out, err := goCommand(t, "mod", "edit", "-replace=github.com/dewpond/dewpond="+root, "-replace="+s.Module+"="+dir, mod)
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return mod, nil
}

func goCommand(t T, args ...string) (string, error) {
	cmd := exec.CommandContext(t.Context(), "go", args...)
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	return string(out), err
}
