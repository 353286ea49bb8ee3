package load_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// TestLinksNoCommand wants a program that runs a scenario to link what measures, and neither a parser of flags
// nor a terminal, a page or a table. The test cache cannot serve a stale answer, because this test
// binary links the same packages.
func TestLinksNoCommand(t *testing.T) {
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
	list := exec.Command("go", "list", "-deps", ".")
	list.Stderr = os.Stderr
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	linked := strings.Fields(string(out))
	if len(linked) < 100 {
		t.Errorf("go list has %d packages", len(linked))
	}
	for _, p := range linked {
		for _, not := range []string{
			"github.com/alecthomas/kong", "golang.org/x/term", "flag", "testing",
			"github.com/dewpond/dewpond/instruments/kit/page", "github.com/dewpond/dewpond/instruments/kit/columns",
			"github.com/dewpond/dewpond/instruments/kit/axis", "github.com/dewpond/dewpond/instruments/kit/command",
			"github.com/dewpond/dewpond/instruments/load/report", "github.com/dewpond/dewpond/instruments/load/command",
		} {
			if p == not || strings.HasPrefix(p, not+"/") {
				t.Errorf("load links %s", p)
			}
		}
	}
}
