package pressure

import (
	"io/fs"
	"path"
)

// A group is a cgroup that limits this process: its own or one above it.
type group struct {
	max      string // file with the hard limit
	high     string // file with the limit from which the kernel reclaims; "" in version 1
	usage    string // file with all bytes in use, including the page cache
	stat     string // file whose field inactive is the page cache that the kernel reclaims first
	inactive string
	inherits bool // stat includes the limit of the groups above: version 1, nearest group
}

// These are fields of memory.stat. In version 1 those with total_ include the groups
// below, as usage_in_bytes does.
const (
	inactiveV1 = "total_inactive_file"
	inactiveV2 = "inactive_file"
	inherited  = "hierarchical_memory_limit"
)

// located holds the paths of this process's files. They are found once: a process is
// rarely moved, and one that is moved keeps its old limits here.
type located struct {
	version  int      // of the cgroups that limit memory; 0: none found
	dirs     []string // the nearest group first
	groups   []group  // in the same order
	pressure []string // files that may have PSI, best first
}

func locate(root fs.FS) (l located) {
	l.pressure = []string{"proc/pressure/memory"}
	if root == nil {
		return l
	}
	self, err := fs.ReadFile(root, "proc/self/cgroup")
	if err != nil {
		return l
	}
	info, err := fs.ReadFile(root, "proc/self/mountinfo")
	if err != nil {
		return l
	}
	in, mounts := parseMembership(string(self)), parseMounts(string(info))

	// In a hybrid layout, version 1 limits memory while version 2's group still has
	// PSI.
	unified := widest(mounts, in.unified, func(m mount) bool { return m.kind == "cgroup2" })
	if len(unified) > 0 {
		l.pressure = []string{path.Join(unified[0], "memory.pressure"), l.pressure[0]}
	}
	if v1 := widest(mounts, in.memory, func(m mount) bool { return m.hasController("memory") }); len(v1) > 0 {
		l.version, l.dirs = 1, hierarchy(root, v1)
	} else if len(unified) > 0 {
		l.version, l.dirs = 2, unified
	}
	for i, dir := range l.dirs {
		if l.version == 1 {
			l.groups = append(l.groups, group{
				max: path.Join(dir, "memory.limit_in_bytes"), usage: path.Join(dir, "memory.usage_in_bytes"),
				stat: path.Join(dir, "memory.stat"), inactive: inactiveV1, inherits: i == 0,
			})
		} else {
			l.groups = append(l.groups, group{
				max: path.Join(dir, "memory.max"), high: path.Join(dir, "memory.high"),
				usage: path.Join(dir, "memory.current"),
				stat:  path.Join(dir, "memory.stat"), inactive: inactiveV2,
			})
		}
	}
	return l
}

// widest returns the directories of a group in the mount that shows the group itself
// and most of the groups above it.
func widest(mounts []mount, group string, right func(mount) bool) (dirs []string) {
	if group == "" {
		return nil
	}
	exact := false
	for _, m := range mounts {
		if !right(m) {
			continue
		}
		d, e := m.directories(group)
		if e && !exact || e == exact && len(d) > len(dirs) {
			dirs, exact = d, e
		}
	}
	return dirs
}

// hierarchy drops the groups that do not limit the nearest: before Linux 5.11 a group
// of version 1 could choose not to count the groups below it.
func hierarchy(root fs.FS, dirs []string) []string {
	f := &files{root: root}
	for i, dir := range dirs[1:] {
		if counts, ok := f.number(path.Join(dir, "memory.use_hierarchy")); ok && counts == 0 {
			return dirs[:i+1]
		}
	}
	return dirs
}

// readGroups returns the tightest hard limit in bytes, and the share of its limit that
// the fullest group uses. Each group is compared with its own limit: a group that is
// shared is filled by other processes too.
func readGroups(f *files, groups []group) (hard int64, fullest float64) {
	hard = Unlimited
	for i := range groups {
		h, used := groups[i].read(f)
		hard, fullest = min(hard, h), max(fullest, used)
	}
	return hard, fullest
}

func (g *group) read(f *files) (hard int64, used float64) {
	hard = f.limit(g.max)
	if g.inherits {
		if text, ok := f.field(g.stat, inherited); ok {
			hard = min(hard, parseLimit(text))
		}
	}
	limit := min(hard, f.limit(g.high))
	if limit == Unlimited {
		return hard, 0
	}
	usage, ok := f.number(g.usage)
	if !ok {
		return hard, 0
	}
	text, _ := f.field(g.stat, g.inactive)
	inactive, ok := parseNumber(text)
	if !ok {
		return hard, 0 // without it a full page cache would look like pressure
	}
	return hard, share(float64(usage)-float64(inactive), float64(limit))
}
