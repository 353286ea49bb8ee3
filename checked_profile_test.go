package dewpond_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
)

// What is out of a watched pool is in a profile that go tool pprof opens, by the stack of
// its Get, and what is put back is not.
func TestInUseProfile(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll})
	out := getHere(p, 1000)
	p.Put(getHere(p, 2000))
	profile := pprof.Lookup("dewpond_inuse")
	if profile == nil {
		t.Fatal("there is no profile dewpond_inuse")
	}
	name := filepath.Join(t.TempDir(), "inuse")
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := profile.WriteTo(file, 0); err != nil {
		t.Fatal(err)
	}
	file.Close()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("there is no go tool here")
	}
	top, err := exec.Command("go", "tool", "pprof", "-top", "-cum", "-nodecount=100000", "-nodefraction=0", "-unit=count", name).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, top)
	}
	for line := range strings.Lines(string(top)) {
		if strings.Contains(line, "dewpond_test.getHere") {
			p.Put(out)
			return
		}
	}
	t.Errorf("getHere is not in the profile:\n%s", top)
}
