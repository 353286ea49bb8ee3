package main_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/recipe"
)

// A contender that is added as HACKING.md says takes part, and is in the help texts.
func TestRecipe(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	recipe.Hold(t, root, func(dir string, files map[string][]byte) error {
		contenders, err := recipe.Compile(root, "cmd/dewpond/internal/contender", filepath.Join(dir, "contenders"), files)
		if err != nil {
			return err
		}
		out, err := contenders.Run("-test.v")
		if err != nil {
			return err
		}
		for _, test := range []string{"TestLength", "TestCleared", "TestOneOwner", "TestBounded"} {
			if !strings.Contains(out, "--- PASS: "+test+"/pile") {
				return fmt.Errorf("%s has not tried it", test)
			}
		}
		command, err := recipe.Compile(root, "cmd/dewpond", filepath.Join(dir, "command"), files)
		if err != nil {
			return err
		}
		if _, update := files["cmd/dewpond/testdata/script/help.txtar"]; update {
			if _, err := command.Run("-test.run=Scripts/help", "-update"); err != nil {
				return err
			}
		}
		_, err = command.Run("-test.run=Scripts/(help|usage)")
		return err
	})
}
