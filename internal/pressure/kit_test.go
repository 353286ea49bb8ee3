package pressure

import (
	"fmt"
	"io/fs"
	"maps"
	"testing/fstest"
)

// The files below are as Linux 6.x and 4.x write them.

const mib = 1 << 20

// tree is a file system: contents by path, without the leading slash.
type tree map[string]string

// with returns all trees merged; the last content of a path counts.
func (t tree) with(others ...tree) tree {
	all := maps.Clone(t)
	for _, o := range others {
		maps.Copy(all, o)
	}
	return all
}

func (t tree) fs() fstest.MapFS {
	m := fstest.MapFS{}
	for name, content := range t {
		m[name] = &fstest.MapFile{Data: []byte(content)}
	}
	return m
}

// process is a process's view of its cgroups.
func process(cgroup, mountinfo string) tree {
	return tree{"proc/self/cgroup": cgroup, "proc/self/mountinfo": mountinfo}
}

// groupV2 is the directory of a cgroup of version 2. Limits are texts: a number or
// max.
func groupV2(dir, max, high string, current, inactive int) tree {
	return tree{
		dir + "/memory.max":     max + "\n",
		dir + "/memory.high":    high + "\n",
		dir + "/memory.current": fmt.Sprintln(current),
		dir + "/memory.stat": fmt.Sprintf("anon 231817216\nfile 408944640\nkernel 15204352\nkernel_stack 1294336\npagetables 3469312\n"+
			"sock 0\nvmalloc 12288\nshmem 24576\nfile_mapped 47448064\nfile_dirty 135168\nfile_writeback 0\nanon_thp 0\n"+
			"inactive_anon 231735296\nactive_anon 94208\ninactive_file %d\nactive_file 201113600\nunevictable 0\n"+
			"slab_reclaimable 7845120\nslab_unreclaimable 1683168\nslab 9528288\nworkingset_refault_anon 0\n"+
			"workingset_refault_file 18203\npgfault 2310452\npgmajfault 311\n", inactive),
	}
}

// groupV1 is the directory of a cgroup of version 1. inherited is the limit that it and
// the groups above it leave.
func groupV1(dir, limit, inherited string, usage, inactive int) tree {
	return tree{
		dir + "/memory.use_hierarchy":  "1\n",
		dir + "/memory.limit_in_bytes": limit + "\n",
		dir + "/memory.usage_in_bytes": fmt.Sprintln(usage),
		dir + "/memory.stat": fmt.Sprintf("cache 3555328\nrss 1720320\nrss_huge 0\nmapped_file 0\npgpgin 15502\npgpgout 14212\n"+
			"inactive_anon 1560576\nactive_anon 12288\ninactive_file 1187840\nactive_file 2367488\nunevictable 0\n"+
			"hierarchical_memory_limit %s\nhierarchical_memsw_limit 9223372036854771712\n"+
			"total_cache 427491328\ntotal_rss 159248384\ntotal_inactive_anon 193773568\ntotal_active_anon 27406336\n"+
			"total_inactive_file %d\ntotal_active_file 230682624\ntotal_unevictable 0\n", inherited, inactive),
	}
}

// psi is a file with PSI; the totals are in microseconds.
func psi(name string, some, full int) tree {
	return tree{name: fmt.Sprintf("some avg10=0.00 avg60=0.11 avg300=0.27 total=%d\nfull avg10=0.00 avg60=0.08 avg300=0.20 total=%d\n", some, full)}
}

const noneV1 = "9223372036854771712" // the largest multiple of 4096 below 2^63

// Mountinfo of common systems.
const (
	hostV2 = `21 28 0:19 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw
22 28 0:20 / /proc rw,nosuid,nodev,noexec,relatime shared:14 - proc proc rw
28 1 259:1 / / rw,relatime shared:1 - ext4 /dev/nvme0n1p1 rw,discard,errors=remount-ro
33 21 0:28 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
`
	containerV2 = `1041 980 0:107 / / rw,relatime - overlay overlay rw,lowerdir=/l/AB:/l/CD,upperdir=/d/diff,workdir=/d/work
1042 1041 0:110 / /proc rw,nosuid,nodev,noexec,relatime - proc proc rw
1045 1041 0:112 / /sys ro,nosuid,nodev,noexec,relatime - sysfs sysfs ro
1046 1045 0:28 / /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw,nsdelegate
`
	hostV1 = `25 30 0:23 / /sys rw,nosuid,nodev,noexec,relatime shared:7 - sysfs sysfs rw
31 25 0:26 / /sys/fs/cgroup ro,nosuid,nodev,noexec shared:9 - tmpfs tmpfs ro,mode=755
35 31 0:30 / /sys/fs/cgroup/cpu,cpuacct rw,nosuid,nodev,noexec,relatime shared:15 - cgroup cgroup rw,cpu,cpuacct
38 31 0:33 / /sys/fs/cgroup/memory rw,nosuid,nodev,noexec,relatime shared:18 - cgroup cgroup rw,memory
`
	dockerV1 = `612 540 0:81 / / rw,relatime master:210 - overlay overlay rw,lowerdir=/l/AB,upperdir=/d/diff,workdir=/d/work
620 612 0:85 / /sys ro,nosuid,nodev,noexec,relatime - sysfs sysfs ro
621 620 0:86 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime - tmpfs tmpfs rw,mode=755
625 621 0:30 /docker/4f5c /sys/fs/cgroup/cpu,cpuacct ro,nosuid,nodev,noexec,relatime master:15 - cgroup cgroup rw,cpu,cpuacct
628 621 0:33 /docker/4f5c /sys/fs/cgroup/memory ro,nosuid,nodev,noexec,relatime master:18 - cgroup cgroup rw,memory
`
	hybrid = hostV1 + `42 31 0:38 / /sys/fs/cgroup/unified rw,nosuid,nodev,noexec,relatime shared:10 - cgroup2 cgroup2 rw,nsdelegate
`
)

// denied is a tree in which some files cannot be opened and some cannot be read.
type denied struct {
	fs.FS
	open, read map[string]bool
}

func (d denied) Open(name string) (fs.File, error) {
	if d.open[name] {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrPermission}
	}
	file, err := d.FS.Open(name)
	if err == nil && d.read[name] {
		return unreadable{file}, nil
	}
	return file, err
}

// unreadable is a file such as PSI's when it is compiled in but switched off: it opens,
// and reading it fails.
type unreadable struct{ fs.File }

func (unreadable) Read([]byte) (int, error) { return 0, fs.ErrInvalid }
