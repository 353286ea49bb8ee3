package together_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/recipe"
	"github.com/dewpond/dewpond/internal/repocheck"
)

// An adapter that is added as HACKING.md says runs, and keeps the rules of the repository.
func TestRecipe(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	recipe.Hold(t, root, func(dir string, files map[string][]byte) error {
		adapter, err := recipe.Compile(root, "contrib/dewpile", dir, files)
		if err != nil {
			return err
		}
		out, err := adapter.Run("-test.v", "-test.bench=.", "-test.benchtime=1x")
		switch {
		case err != nil:
			return err
		case !strings.Contains(out, "--- PASS: Example") || !strings.Contains(out, "BenchmarkPushPop"):
			return errors.New("its example and its benchmark have not run")
		}
		found, err := repocheck.CheckEdited(os.DirFS(root), files)
		if len(found) > 0 {
			err = fmt.Errorf("the rules of the repository find %v", found)
		}
		return err
	})
}
