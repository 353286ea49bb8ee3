//go:build !race && !asan && !msan

// The detectors' own memory does not fit.

package children

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/internal/pressure"
)

// TestGroupOfTheKernel has a process in a cgroup of this machine's kernel fill the
// group's own limit.
func TestGroupOfTheKernel(t *testing.T) {
	const limit = 128 << 20
	if dir, ok := role(); ok {
		fillGroup(dir, limit)
		os.Exit(0)
	}
	dir := makeGroup(t, limit)
	out, err := child(t, dir, "GOGC=off", "GOMEMLIMIT=off").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	t.Logf("%s", out)
	if got := strings.Fields(string(out)); len(got) != 6 || got[0] != "low" || got[2] != "medium" || got[4] != "high" {
		t.Errorf("levels at an eighth, three quarters and 15/16 of the limit: %s", out)
	}
}

// makeGroup makes a cgroup below that of the process or below one above it, or skips the test.
func makeGroup(t *testing.T, limit int) (dir string) {
	groups, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(groups)) {
		_, rest, _ := strings.Cut(strings.TrimSpace(line), ":")
		controllers, group, _ := strings.Cut(rest, ":")
		mount, file := "/sys/fs/cgroup", "memory.max"
		if controllers != "" { // version 1, where the first line is not the unified hierarchy's
			mount, file = "/sys/fs/cgroup/memory", "memory.limit_in_bytes"
			if !slices.Contains(strings.Split(controllers, ","), "memory") {
				continue
			}
		}
		for above := group; ; above = filepath.Dir(above) {
			dir = filepath.Join(mount, above, "dewpond-test-"+strconv.Itoa(os.Getpid()))
			if os.Mkdir(dir, 0o755) == nil {
				t.Cleanup(func() {
					if err := os.Remove(dir); err != nil {
						t.Error(err)
					}
				})
				if err := os.WriteFile(filepath.Join(dir, file), []byte(strconv.Itoa(limit)), 0); err != nil {
					t.Skipf("a cgroup may be made but not limited: %v", err)
				}
				return dir
			}
			if above == "/" {
				break
			}
		}
	}
	t.Skip("no cgroup of memory is to be seen here, or none may be made: that takes root, or a delegated group")
	return ""
}

// fillGroup enters a group and prints the level and the share that a Reader finds, with
// an eighth, three quarters, and 15/16 of the limit in use.
func fillGroup(dir string, limit int) {
	if err := os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(os.Getpid())), 0); err != nil {
		panic(err)
	}
	reader := pressure.NewReader(pressure.System())
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
