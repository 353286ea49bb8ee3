//go:build !race

// The race detector's own memory does not fit.

package pressure

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"
)

// TestGroupOfTheKernel has a process in a cgroup of this machine's kernel fill the
// group's own limit.
func TestGroupOfTheKernel(t *testing.T) {
	const limit = 128 << 20
	const key = "DEWPOND_TEST_CGROUP"
	if dir := os.Getenv(key); dir != "" {
		fillGroup(dir, limit)
		os.Exit(0)
	}
	dir := makeGroup(t, limit)
	child := exec.Command(os.Args[0], "-test.run=^TestGroupOfTheKernel$")
	child.Env = append(os.Environ(), key+"="+dir, "GOGC=off", "GOMEMLIMIT=off")
	out, err := child.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	if got := strings.Fields(string(out)); len(got) != 6 || got[0] != "low" || got[2] != "medium" || got[4] != "high" {
		t.Errorf("levels at an eighth, three quarters and 15/16 of the limit: %s", out)
	}
}

// makeGroup makes a cgroup below that of the process, or skips the test.
func makeGroup(t *testing.T, limit int) (dir string) {
	self := NewReader(System())
	if self.located.version == 0 {
		t.Skip("no memory cgroup is to be seen here")
	}
	name := map[int]string{1: "memory.limit_in_bytes", 2: "memory.max"}[self.located.version]
	for _, above := range self.located.dirs {
		dir = filepath.Join("/", above, "dewpond-test-"+strconv.Itoa(os.Getpid()))
		if os.Mkdir(dir, 0o755) != nil {
			continue
		}
		t.Cleanup(func() {
			if err := os.Remove(dir); err != nil {
				t.Error(err)
			}
		})
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strconv.Itoa(limit)), 0); err != nil {
			t.Skipf("a cgroup may be made but not limited: %v", err)
		}
		return dir
	}
	t.Skip("no cgroup may be made here: that takes root, or a delegated group")
	return ""
}

// fillGroup enters a group and prints the level and the share that a Reader finds, with
// an eighth, three quarters, and 15/16 of the limit in use.
func fillGroup(dir string, limit int) {
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
		panic(err)
	}
	reader := NewReader(System())
	var live [][]byte
	held := 0
	for _, share := range []float64{0.125, 0.75, 0.9375} {
		for held < int(share*float64(limit)) {
			b := make([]byte, 1<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			live = append(live, b)
			held += len(b)
		}
		r := reader.Read(0, time.Now())
		fmt.Printf("%v %.2f\n", r.Level(), r.Group)
	}
	live[0][0]++
}
