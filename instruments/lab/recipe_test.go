package main_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/recipe"
)

// An experiment that is added as HACKING.md says is run, judged, drawn and documented.
func TestRecipe(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	recipe.Hold(t, root, func(dir string, files map[string][]byte) error {
		experiments, err := recipe.Compile(root, "instruments/lab/internal/experiments", filepath.Join(dir, "experiments"), files)
		if err != nil {
			return err
		}
		if _, err := experiments.Run("-test.short"); err != nil {
			return err
		}
		lab, err := recipe.Compile(root, "instruments/lab", filepath.Join(dir, "lab"), files)
		if err != nil {
			return err
		}
		out, err := lab.Run("-test.v", "-test.run=^(TestDocument|TestShape)$/^(pile)?$")
		if err == nil && !strings.Contains(out, "--- PASS: TestShape/pile") {
			return errors.New("TestShape has not run it")
		}
		return err
	})
}
