package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/prometheus/procfs"
)

// group returns a group for a test, or skips it where none can be made.
func group(t *testing.T, controller string, g *Group, err error) *Group {
	t.Helper()
	if err != nil {
		if all, _ := hierarchies(); all != nil {
			if bare, other := all.make(controller); other == nil {
				t.Fatal(err, bare.Remove()) // the limit is at fault
			}
		}
		if !strings.Contains(err.Error(), "run as root") {
			t.Errorf("the error does not say what to do: %v", err)
		}
		t.Skip(err)
	}
	t.Cleanup(func() {
		if err := g.Remove(); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(g.Dir); err == nil {
			t.Errorf("%s is left", g.Dir)
		}
	})
	return g
}

// The kernel has the limit, and counts nothing where nobody has run.
func TestOfMemory(t *testing.T) {
	g, err := OfMemory(64 << 20)
	g = group(t, "memory", g, err)
	name := map[bool]string{false: "memory.limit_in_bytes", true: "memory.max"}[g.v2]
	if limit, err := read(g.Dir, name); err != nil || limit != "67108864" {
		t.Errorf("the limit is %q, %v", limit, err)
	}
	if n, err := g.Killed(); n != 0 || err != nil {
		t.Errorf("%d killed, %v", n, err)
	}
	if n, err := g.Peak(); n < 0 || n > 64<<20 || err != nil {
		t.Errorf("a peak of %d, %v", n, err)
	}
}

func TestOfTime(t *testing.T) {
	g, err := OfTime(0.5)
	g = group(t, "cpu", g, err)
	name, want := "cpu.cfs_quota_us", "50000"
	if g.v2 {
		name, want = "cpu.max", "50000 100000"
	}
	if limit, err := read(g.Dir, name); err != nil || limit != want {
		t.Errorf("the limit is %q, %v", limit, err)
	}
	if periods, throttled, err := g.Throttled(); periods != 0 || throttled != 0 || err != nil {
		t.Errorf("%d of %d periods, %v", throttled, periods, err)
	}
}

func TestOfOneCPU(t *testing.T) {
	g, err := OfOneCPU()
	g = group(t, "cpuset", g, err)
	all, err := cpusOf(filepath.Dir(g.Dir))
	if err != nil {
		t.Fatal(err)
	}
	if one, err := cpusOf(g.Dir); err != nil || strings.Trim(one, "0123456789") != "" || !strings.HasPrefix(all, one) {
		t.Errorf("one processor is %q, %v, of %s", one, err, all)
	}
	if err := Widen(g.Dir); err != nil {
		t.Fatal(err)
	}
	if cpus, err := cpusOf(g.Dir); err != nil || cpus != all {
		t.Errorf("all processors are %q, %v, of %s", cpus, err, all)
	}
	if err := Widen(t.TempDir()); err == nil {
		t.Error("a directory that is no control group is widened")
	}
}

// A group that a process has left that was killed is removed; that of one that lives is not, and what has
// another name is left alone.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	gone, mine, other := filepath.Join(dir, prefix+"999999999-1"), filepath.Join(dir, prefix+"1-1"), filepath.Join(dir, prefix+"x")
	for _, d := range []string{gone, mine, other} {
		if err := os.Mkdir(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	sweep(dir)
	for d, want := range map[string]bool{gone: false, mine: true, other: true} {
		if _, err := os.Stat(d); (err == nil) != want {
			t.Errorf("%s is there: %v", d, err == nil)
		}
	}
}

// Where a process' group is, by what /proc says of both versions, in a container too.
func TestAt(t *testing.T) {
	memory := map[string]string{"rw": "", "memory": ""}
	for _, tt := range []struct {
		group procfs.Cgroup
		mount procfs.MountInfo
		own   string
		found bool
	}{
		{procfs.Cgroup{Controllers: []string{"memory"}, Path: "/a/b"}, procfs.MountInfo{FSType: "cgroup", MountPoint: "/m", Root: "/", SuperOptions: memory}, "/m/a/b", true},
		{procfs.Cgroup{Controllers: []string{"memory"}, Path: "/docker/x"}, procfs.MountInfo{FSType: "cgroup", MountPoint: "/m", Root: "/docker/x", SuperOptions: memory}, "/m", true},
		{procfs.Cgroup{Controllers: []string{"memory"}, Path: "/other"}, procfs.MountInfo{FSType: "cgroup", MountPoint: "/m", Root: "/docker/x", SuperOptions: memory}, "/m", true},
		{procfs.Cgroup{Controllers: []string{"cpu", "cpuacct"}, Path: "/"}, procfs.MountInfo{FSType: "cgroup", MountPoint: "/m", Root: "/", SuperOptions: memory}, "", false},
		{procfs.Cgroup{Path: "/user.slice"}, procfs.MountInfo{FSType: "cgroup2", MountPoint: "/u", Root: "/"}, "/u/user.slice", true},
		{procfs.Cgroup{Path: "/user.slice"}, procfs.MountInfo{FSType: "cgroup", MountPoint: "/m", Root: "/", SuperOptions: memory}, "", false},
		{procfs.Cgroup{Controllers: []string{"memory"}, Path: "/a"}, procfs.MountInfo{FSType: "cgroup2", MountPoint: "/u", Root: "/"}, "", false},
	} {
		if p, ok := at(tt.group, &tt.mount); ok != tt.found || ok && p.own != tt.own {
			t.Errorf("%+v in %+v: %+v, %v; want %s, %v", tt.group, tt.mount, p, ok, tt.own, tt.found)
		}
	}
}

// Of version 2 a group's parent must have the controller, and is left as it was.
func TestAllow(t *testing.T) {
	dir := t.TempDir()
	put := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := allow(dir, "memory"); err == nil {
		t.Error("a directory that is no control group")
	}
	put("cgroup.controllers", "cpu io memory\n")
	put("cgroup.subtree_control", "cpu\n")
	if _, err := allow(dir, "cpuset"); err == nil || !strings.Contains(err.Error(), "no controller cpuset") {
		t.Errorf("a controller that is lacking: %v", err)
	}
	undo, err := allow(dir, "cpu")
	if err != nil {
		t.Fatal(err)
	}
	undo()
	if on, _ := read(dir, "cgroup.subtree_control"); on != "cpu" {
		t.Errorf("what is on already became %q", on)
	}
	put("cgroup.subtree_control", "")
	if undo, err = allow(dir, "memory"); err != nil {
		t.Fatal(err)
	}
	if on, _ := read(dir, "cgroup.subtree_control"); on != "+memory" {
		t.Errorf("%q was asked for", on)
	}
	put("cgroup.subtree_control", "")
	undo()
	if on, _ := read(dir, "cgroup.subtree_control"); on != "-memory" {
		t.Errorf("%q was asked for in the end", on)
	}
}
