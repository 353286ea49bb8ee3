// Package explored runs the explorer, which takes long enough to be a package of its own.
package explored

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/proof"
)

var long = flag.Bool("dewpond.long", false, "explore the long scenarios too: minutes")

// TestAllIsExplored checks that nothing goes wrong in any interleaving of any scenario.
func TestAllIsExplored(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	if err := proof.ReadExplored("../../.."); err != nil {
		t.Fatal(err)
	}
	program, err := proof.BuildExplorer("../../..", t.TempDir(), "dewpond_explore", nil)
	if err != nil {
		t.Fatal(err)
	}
	list, err := exec.Command(program, "-list", fmt.Sprint("-long=", *long)).Output()
	if err != nil || bytes.Count(list, []byte("\n")) < 40 {
		t.Fatalf("%v; the scenarios are\n%s", err, list)
	}
	for line := range strings.Lines(string(list)) {
		scenario, _, _ := strings.Cut(line, " ")
		t.Run(scenario, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(program, "-scenario", scenario)
			cmd.Stderr = os.Stderr
			out, err := cmd.Output()
			t.Logf("\n%s", out)
			if err != nil {
				t.Error(err)
			}
			if !*long && strings.Contains(string(out), "NOT all") || !strings.Contains(string(out), " ok, ") {
				t.Error("it was not explored to its end")
			}
		})
	}
}
