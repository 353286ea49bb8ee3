package pressure

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// noLimit is a Go runtime without GOMEMLIMIT that uses some bytes.
func noLimit(used int64) func() goMemory {
	return func() goMemory { return goMemory{used: used, limit: Unlimited} }
}

var start = time.Date(2026, 5, 4, 12, 0, 0, 0, time.UTC)

func TestGroups(t *testing.T) {
	const used = 95 * mib // by Go: 100 MiB with the headroom
	for _, tt := range []struct {
		name  string
		tree  tree
		dirs  []string // nearest first
		goUse float64  // share of the hard limit that Go uses
		group float64
	}{{
		name: "no files at all",
	}, {
		name: "no cgroup file system",
		tree: process("0::/\n", "22 28 0:20 / /proc rw - proc proc rw\n28 1 259:1 / / rw - ext4 /dev/vda rw\n"),
	}, {
		name: "no cgroup of the process",
		tree: process("", hostV2).with(groupV2("sys/fs/cgroup", "1048576", "max", 1048576, 0)),
	}, {
		name: "v2: a service",
		tree: process("0::/system.slice/shop.service\n", hostV2).with(
			groupV2("sys/fs/cgroup/system.slice/shop.service", "419430400", "max", 320*mib, 20*mib),
			groupV2("sys/fs/cgroup/system.slice", "max", "max", 900*mib, 300*mib)),
		dirs:  []string{"sys/fs/cgroup/system.slice/shop.service", "sys/fs/cgroup/system.slice", "sys/fs/cgroup"},
		goUse: 0.25,
		group: 0.75,
	}, {
		name: "v2: max everywhere",
		tree: process("0::/system.slice/shop.service\n", hostV2).with(
			groupV2("sys/fs/cgroup/system.slice/shop.service", "max", "max", 320*mib, 20*mib),
			groupV2("sys/fs/cgroup/system.slice", "max", "max", 900*mib, 300*mib)),
		dirs: []string{"sys/fs/cgroup/system.slice/shop.service", "sys/fs/cgroup/system.slice", "sys/fs/cgroup"},
	}, {
		// The pod's limit is tighter, and its other containers fill it too.
		name: "v2: a limit further up, full of others",
		tree: process("0::/kubepods.slice/pod7.slice/app.scope\n", hostV2).with(
			groupV2("sys/fs/cgroup/kubepods.slice/pod7.slice/app.scope", "838860800", "max", 100*mib, 20*mib),
			groupV2("sys/fs/cgroup/kubepods.slice/pod7.slice", "419430400", "max", 380*mib, 20*mib),
			groupV2("sys/fs/cgroup/kubepods.slice", "max", "max", 900*mib, 300*mib)),
		dirs: []string{"sys/fs/cgroup/kubepods.slice/pod7.slice/app.scope", "sys/fs/cgroup/kubepods.slice/pod7.slice",
			"sys/fs/cgroup/kubepods.slice", "sys/fs/cgroup"},
		goUse: 0.25,
		group: 0.9,
	}, {
		name: "v2: the nearest limit is the tightest",
		tree: process("0::/a/b\n", hostV2).with(
			groupV2("sys/fs/cgroup/a/b", "209715200", "max", 160*mib, 0),
			groupV2("sys/fs/cgroup/a", "1073741824", "max", 256*mib, 0)),
		dirs:  []string{"sys/fs/cgroup/a/b", "sys/fs/cgroup/a", "sys/fs/cgroup"},
		goUse: 0.5,
		group: 0.8,
	}, {
		// The kernel reclaims from high on, but it does not bound Go.
		name:  "v2: high below max",
		tree:  process("0::/a\n", hostV2).with(groupV2("sys/fs/cgroup/a", "419430400", "209715200", 150*mib, 0)),
		dirs:  []string{"sys/fs/cgroup/a", "sys/fs/cgroup"},
		goUse: 0.25,
		group: 0.75,
	}, {
		name:  "v2: high alone",
		tree:  process("0::/a\n", hostV2).with(groupV2("sys/fs/cgroup/a", "max", "209715200", 150*mib, 0)),
		dirs:  []string{"sys/fs/cgroup/a", "sys/fs/cgroup"},
		group: 0.75,
	}, {
		name: "v2: memory is not counted in the nearest group",
		tree: process("0::/user.slice/app.scope\n", hostV2).with(
			tree{"sys/fs/cgroup/user.slice/app.scope/cgroup.procs": "1\n"},
			groupV2("sys/fs/cgroup/user.slice", "419430400", "max", 300*mib, 0)),
		dirs:  []string{"sys/fs/cgroup/user.slice/app.scope", "sys/fs/cgroup/user.slice", "sys/fs/cgroup"},
		goUse: 0.25,
		group: 0.75,
	}, {
		name: "v2: the nearest group was deleted",
		tree: process("0::/a/b (deleted)\n", hostV2).with(
			groupV2("sys/fs/cgroup/a", "419430400", "max", 300*mib, 0)),
		dirs:  []string{"sys/fs/cgroup/a/b (deleted)", "sys/fs/cgroup/a", "sys/fs/cgroup"},
		goUse: 0.25,
		group: 0.75,
	}, {
		name:  "v2: more page cache than bytes in use",
		tree:  process("0::/a\n", hostV2).with(groupV2("sys/fs/cgroup/a", "419430400", "max", 10*mib, 20*mib)),
		dirs:  []string{"sys/fs/cgroup/a", "sys/fs/cgroup"},
		goUse: 0.25,
		group: 0,
	}, {
		name:  "v2: a limit of nothing",
		tree:  process("0::/a\n", hostV2).with(groupV2("sys/fs/cgroup/a", "0", "max", 0, 0)),
		dirs:  []string{"sys/fs/cgroup/a", "sys/fs/cgroup"},
		goUse: 1,
		group: 1,
	}, {
		name: "namespace: a container of its own",
		tree: process("0::/\n", containerV2).with(
			groupV2("sys/fs/cgroup", "419430400", "max", 320*mib, 20*mib)),
		dirs:  []string{"sys/fs/cgroup"},
		goUse: 0.25,
		group: 0.75,
	}, {
		// The path from the mount's root down to the process is unknown, but the root
		// limits it.
		name: "namespace: the mount's root is above it",
		tree: process("0::/worker\n", "1046 1045 0:28 /../.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n").with(
			groupV2("sys/fs/cgroup", "419430400", "max", 300*mib, 0),
			groupV2("sys/fs/cgroup/worker", "1048576", "max", 1048576, 0)), // another process's
		dirs:  []string{"sys/fs/cgroup"},
		goUse: 0.25,
		group: 0.75,
	}, {
		name: "namespace: the host's tree is mounted beside the own",
		tree: process("0::/\n", "1050 1041 0:28 /../../.. /host/sys/fs/cgroup ro - cgroup2 cgroup rw\n"+containerV2).with(
			groupV2("host/sys/fs/cgroup", "1048576", "max", 1048576, 0),
			groupV2("sys/fs/cgroup", "419430400", "max", 300*mib, 0)),
		dirs:  []string{"sys/fs/cgroup"},
		goUse: 0.25,
		group: 0.75,
	}, {
		name: "namespace: the process is outside, the mount's root too",
		tree: process("0::/../../app\n", "1046 1045 0:28 /../.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n").with(
			groupV2("sys/fs/cgroup/app", "419430400", "max", 300*mib, 0)),
		dirs:  []string{"sys/fs/cgroup/app", "sys/fs/cgroup"},
		goUse: 0.25,
		group: 0.75,
	}, {
		name: "namespace: the process was moved out",
		tree: process("0::/../other\n", containerV2).with(
			groupV2("sys/fs/cgroup", "1048576", "max", 1048576, 0),
			groupV2("sys/fs/other", "1048576", "max", 1048576, 0)),
	}, {
		name: "namespace: the process is further out than the mount's root",
		tree: process("0::/../../app\n", "1046 1045 0:28 /.. /sys/fs/cgroup ro - cgroup2 cgroup rw\n").with(
			groupV2("sys/fs/cgroup", "1048576", "max", 1048576, 0)),
	}, {
		name: "the mount's root is elsewhere",
		tree: process("0::/system.slice/shop.service\n", "33 21 0:28 /system.slice/shop /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n").with(
			groupV2("sys/fs/cgroup", "1048576", "max", 1048576, 0)),
	}, {
		name: "v1: a service",
		tree: process("12:memory:/system.slice/shop.service\n3:cpu,cpuacct:/\n1:name=systemd:/system.slice/shop.service\n", hostV1).with(
			groupV1("sys/fs/cgroup/memory/system.slice/shop.service", "419430400", "419430400", 320*mib, 20*mib),
			groupV1("sys/fs/cgroup/memory/system.slice", noneV1, noneV1, 900*mib, 300*mib),
			groupV1("sys/fs/cgroup/memory", noneV1, noneV1, 900*mib, 300*mib)),
		dirs:  []string{"sys/fs/cgroup/memory/system.slice/shop.service", "sys/fs/cgroup/memory/system.slice", "sys/fs/cgroup/memory"},
		goUse: 0.25, group: 0.75,
	}, {
		name: "v1: another file system has an option of that name",
		tree: process("12:memory:/a/b\n", "44 1 0:44 / /mnt rw - fuse.x x rw,memory\n"+
			"38 31 0:33 /a/b /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n").with(
			groupV1("mnt/a/b", "1048576", "1048576", 1048576, 0),
			groupV1("sys/fs/cgroup/memory", "419430400", "419430400", 300*mib, 0)),
		dirs:  []string{"sys/fs/cgroup/memory"},
		goUse: 0.25, group: 0.75,
	}, {
		name: "v1: unlimited, of every page size and age",
		tree: process("12:memory:/a/b\n", hostV1).with(
			groupV1("sys/fs/cgroup/memory/a/b", noneV1, "18446744073709551615", 320*mib, 20*mib),
			groupV1("sys/fs/cgroup/memory/a", "9223372036854710272", noneV1, 900*mib, 300*mib),
			groupV1("sys/fs/cgroup/memory", "9223372036854775807", noneV1, 900*mib, 300*mib)),
		dirs: []string{"sys/fs/cgroup/memory/a/b", "sys/fs/cgroup/memory/a", "sys/fs/cgroup/memory"},
	}, {
		name: "v1: Docker, without a namespace",
		tree: process("12:memory:/docker/4f5c\n3:cpu,cpuacct:/docker/4f5c\n", dockerV1).with(
			groupV1("sys/fs/cgroup/memory", "419430400", "419430400", 320*mib, 20*mib)),
		dirs:  []string{"sys/fs/cgroup/memory"},
		goUse: 0.25, group: 0.75,
	}, {
		name: "v1: a group within Docker's",
		tree: process("12:memory:/docker/4f5c/init\n", dockerV1).with(
			groupV1("sys/fs/cgroup/memory/init", noneV1, "419430400", 100*mib, 0),
			groupV1("sys/fs/cgroup/memory", "419430400", "419430400", 300*mib, 0)),
		dirs:  []string{"sys/fs/cgroup/memory/init", "sys/fs/cgroup/memory"},
		goUse: 0.25, group: 0.75,
	}, {
		name: "v1: the limit is of a group that cannot be seen",
		tree: process("12:memory:/docker/4f5c\n", dockerV1).with(
			groupV1("sys/fs/cgroup/memory", noneV1, "419430400", 320*mib, 20*mib)),
		dirs:  []string{"sys/fs/cgroup/memory"},
		goUse: 0.25, group: 0.75,
	}, {
		name: "v1: the group above does not count those below",
		tree: process("12:memory:/a/b\n", hostV1).with(
			groupV1("sys/fs/cgroup/memory/a/b", noneV1, noneV1, 320*mib, 20*mib),
			groupV1("sys/fs/cgroup/memory/a", "1048576", "1048576", 1048576, 0),
			tree{"sys/fs/cgroup/memory/a/memory.use_hierarchy": "0\n"}),
		dirs: []string{"sys/fs/cgroup/memory/a/b"},
	}, {
		name: "hybrid: memory on v1, the rest on v2",
		tree: process("12:memory:/system.slice/shop.service\n0::/system.slice/shop.service\n", hybrid).with(
			groupV1("sys/fs/cgroup/memory/system.slice/shop.service", "419430400", "419430400", 320*mib, 20*mib),
			groupV2("sys/fs/cgroup/unified/system.slice/shop.service", "1048576", "max", 1048576, 0)),
		dirs:  []string{"sys/fs/cgroup/memory/system.slice/shop.service", "sys/fs/cgroup/memory/system.slice", "sys/fs/cgroup/memory"},
		goUse: 0.25, group: 0.75,
	}, {
		name: "hybrid: memory on v2, other controllers on v1",
		tree: process("3:cpu,cpuacct:/\n0::/a\n", hybrid).with(
			groupV2("sys/fs/cgroup/unified/a", "419430400", "max", 300*mib, 0)),
		dirs:  []string{"sys/fs/cgroup/unified/a", "sys/fs/cgroup/unified"},
		goUse: 0.25, group: 0.75,
	}, {
		name: "several mounts: the one that shows most",
		tree: process("0::/a/b\n", "50 21 0:28 /a /mnt/a rw - cgroup2 cgroup2 rw\n"+hostV2+"51 21 0:28 /a/b /mnt/b rw - cgroup2 cgroup2 rw\n").with(
			groupV2("sys/fs/cgroup/a", "419430400", "max", 300*mib, 0)),
		dirs:  []string{"sys/fs/cgroup/a/b", "sys/fs/cgroup/a", "sys/fs/cgroup"},
		goUse: 0.25, group: 0.75,
	}, {
		name: "a mount that another one covers",
		tree: process("0::/\n", containerV2+"1099 1046 0:28 /a /sys/fs/cgroup rw - cgroup2 cgroup rw\n").with(
			groupV2("sys/fs/cgroup", "1048576", "max", 1048576, 0)),
	}, {
		name: "a mount point with a blank",
		tree: process("0::/my group/a:b\n", `33 21 0:28 /my\040group /mnt/c\040g\134 rw - cgroup2 cgroup2 rw`+"\n").with(
			groupV2(`mnt/c g\/a:b`, "419430400", "max", 300*mib, 0)),
		dirs:  []string{`mnt/c g\/a:b`, `mnt/c g\`},
		goUse: 0.25, group: 0.75,
	}, {
		name: "a mount on the root",
		tree: process("0::/a\n", "33 33 0:28 / / rw - cgroup2 cgroup2 rw\n").with(
			groupV2("a", "419430400", "max", 300*mib, 0)),
		dirs:  []string{"a", "."},
		goUse: 0.25, group: 0.75,
	}} {
		t.Run(tt.name, func(t *testing.T) {
			r := readerOf(tt.tree.fs(), noLimit(used))
			if !slices.Equal(r.located.dirs, tt.dirs) {
				t.Errorf("groups in %q, want %q", r.located.dirs, tt.dirs)
			}
			if got, want := r.Read(0, start), (Reading{Go: tt.goUse, Group: tt.group}); got != want {
				t.Errorf("read %+v, want %+v", got, want)
			}
		})
	}
}

// A group whose limits cannot be read has none, and one whose use cannot be read does
// not count. No file may crash the program.
func TestUnreadableAndGarbage(t *testing.T) {
	const dir = "sys/fs/cgroup/a"
	healthy := process("0::/a\n", hostV2).with(
		groupV2(dir, "419430400", "max", 300*mib, 0),
		groupV2("sys/fs/cgroup", "838860800", "max", 400*mib, 0),
		psi(dir+"/memory.pressure", 0, 0))
	full := Reading{Go: 0.25, Group: 0.75}
	parent := Reading{Go: 0.125, Group: 0.5} // what the group above yields
	for name, want := range map[string]Reading{
		"proc/self/cgroup":       {},
		"proc/self/mountinfo":    {},
		dir + "/memory.max":      parent,
		dir + "/memory.high":     full,
		dir + "/memory.current":  {Go: 0.25, Group: 0.5},
		dir + "/memory.stat":     {Go: 0.25, Group: 0.5},
		dir + "/memory.pressure": full,
	} {
		t.Run(name, func(t *testing.T) {
			check := func(how string, r *Reader) {
				t.Helper()
				if got := r.Read(0, start); got != want {
					t.Errorf("%s: read %+v, want %+v", how, got, want)
				}
				if got := r.Read(0, start.Add(time.Second)); got != want {
					t.Errorf("%s: then read %+v, want %+v", how, got, want)
				}
			}
			used := noLimit(95 * mib)
			if got := readerOf(healthy.fs(), used).Read(0, start); got != full {
				t.Fatalf("the healthy tree reads %+v, want %+v", got, full)
			}
			check("no permission", readerOf(denied{FS: healthy.fs(), open: map[string]bool{name: true}}, used))
			check("unreadable", readerOf(denied{FS: healthy.fs(), read: map[string]bool{name: true}}, used))
			for _, garbage := range []string{
				"", "\n", "garbage\n", "-1\n", "+1\n", "0x10\n", "1e3\n", "1.5\n", "1 2\n", "\x00\xff\xfe", "99999999999999999999999\n",
				"inactive_file\n", "inactive_file x\n", "inactive_file -5\ninactive_file 5\n", "some total=\n", "0::\n", ":::\n", "a - b\n", " - cgroup2\n",
				string(make([]byte, 2*maxFile)), "1" + strings.Repeat(" ", 2*maxFile),
			} {
				check("garbage", readerOf(healthy.with(tree{name: garbage}).fs(), used))
			}
			// The files break after they were found.
			m := healthy.fs()
			r := readerOf(m, used)
			delete(m, name)
			if name == "proc/self/cgroup" || name == "proc/self/mountinfo" {
				want = full // read once
			}
			check("gone", r)
		})
	}
}

func TestField(t *testing.T) {
	f := &files{root: tree{"stat": "total_inactive_file 1\ninactive_file_x 2\ninactive_file 3\ninactive_file 4\n"}.fs()}
	if got, ok := f.field("stat", "inactive_file"); string(got) != "3" || !ok {
		t.Errorf("got %q, %v; want 3", got, ok)
	}
	if got, ok := f.field("stat", "inactive"); ok {
		t.Errorf("got %q for a key that is not there", got)
	}
}

func TestLimitsAreReadAgain(t *testing.T) {
	m := process("0::/a\n", hostV2).with(groupV2("sys/fs/cgroup/a", "max", "max", 300*mib, 0)).fs()
	r := readerOf(m, noLimit(95*mib))
	if got := r.Read(0, start); got != (Reading{}) {
		t.Fatalf("without a limit: %+v", got)
	}
	m["sys/fs/cgroup/a/memory.max"].Data = []byte("419430400\n")
	if got, want := r.Read(0, start), (Reading{Go: 0.25, Group: 0.75}); got != want {
		t.Fatalf("with a limit: %+v, want %+v", got, want)
	}
}

// FuzzFiles looks for content that crashes a Reader, or makes a share that is not a
// number.
func FuzzFiles(f *testing.F) {
	f.Add("0::/a\n", hostV2, "max\n", "inactive_file 5\n", "some avg10=0.00 avg60=0.11 avg300=0.27 total=7\n")
	f.Add("12:memory:/docker/4f5c\n0::/../x\n", dockerV1, "0\n", "hierarchical_memory_limit 1\ntotal_inactive_file 0\n", "full total=1\n")
	f.Fuzz(func(t *testing.T, cgroup, mountinfo, number, stat, stalls string) {
		m := process(cgroup, mountinfo).with(tree{"proc/pressure/memory": stalls}).fs()
		for _, dir := range readerOf(m, noLimit(1)).located.dirs {
			for name, content := range map[string]string{
				"memory.max": number, "memory.high": number, "memory.current": number, "memory.stat": stat, "memory.pressure": stalls,
				"memory.limit_in_bytes": number, "memory.usage_in_bytes": number, "memory.use_hierarchy": number,
			} {
				for file, data := range (tree{dir + "/" + name: content}).fs() {
					m[file] = data
				}
			}
		}
		r := readerOf(m, noLimit(1))
		for i := range 3 {
			reading := r.Read(0, start.Add(time.Duration(i)*time.Second))
			if reading.Use() < 0 || reading.Use() != reading.Use() || reading.Some < 0 || reading.Full < 0 {
				t.Fatalf("read %+v", reading)
			}
		}
		r.Sources()
	})
}
