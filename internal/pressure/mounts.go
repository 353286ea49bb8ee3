package pressure

import (
	"path"
	"strconv"
	"strings"
)

// A mount is a line of /proc/self/mountinfo: see proc_pid_mountinfo(5).
type mount struct {
	id, parent string
	root       string // the part of the file system that is mounted: "/", "/docker/4f5c", or "/.." and the like when it is above our cgroup namespace
	point      string // the directory it is mounted on
	kind       string // cgroup, cgroup2, ext4
	options    string // of the file system: for a cgroup of version 1, its controllers
}

// parseMounts returns the visible mounts. It skips malformed lines, and mounts that a
// later one covers.
func parseMounts(text string) []mount {
	var mounts []mount
	covered := map[[2]string]bool{} // by the id of the covered mount, and the place
	for line := range strings.Lines(text) {
		before, after, ok := strings.Cut(line, " - ")
		place, system := strings.Fields(before), strings.Fields(after)
		if !ok || len(place) < 6 || len(system) < 2 {
			continue
		}
		m := mount{
			id: place[0], parent: place[1], root: unescape(place[3]), point: unescape(place[4]),
			kind: system[0], options: system[len(system)-1],
		}
		if m.parent != m.id {
			covered[[2]string{m.parent, m.point}] = true
		}
		mounts = append(mounts, m)
	}
	visible := mounts[:0]
	for _, m := range mounts {
		if !covered[[2]string{m.id, m.point}] {
			visible = append(visible, m)
		}
	}
	return visible
}

// unescape undoes the kernel's escaping of blanks and backslashes in a path: a \ and
// three octal digits.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if c, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				b.WriteByte(byte(c))
				i += 3
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// hasController reports whether this mounts version 1's tree of a controller.
func (m mount) hasController(name string) bool {
	for option := range strings.SplitSeq(m.options, ",") {
		if m.kind == "cgroup" && option == name {
			return true
		}
	}
	return false
}

// directories returns the directories of a group, named as in /proc/self/cgroup, and of
// the groups above it, as far up as the mount shows them: the nearest first, as paths
// for an fs.FS. It returns none if the mount shows neither.
//
// If the mount's root is above the cgroup namespace and the group below that, the path
// from the one to the other is unknown. The root still limits the group, so it is
// returned, and exact is false.
func (m mount) directories(group string) (dirs []string, exact bool) {
	rest, exact := m.below(group)
	if !exact && !m.above(group) {
		return nil, false
	}
	point := strings.TrimPrefix(path.Clean(m.point), "/")
	for dir := path.Join(point, rest); len(dir) > len(point); {
		dirs = append(dirs, dir)
		dir = dir[:max(len(point), strings.LastIndexByte(dir, '/'))]
	}
	if point == "" {
		point = "."
	}
	return append(dirs, point), exact
}

// below returns the path from the mount's root down to a group, "" for the root itself.
// ok is false if the path would lead up: then the group is outside.
func (m mount) below(group string) (rest string, ok bool) {
	rest, ok = strings.CutPrefix(group, strings.TrimSuffix(m.root, "/"))
	if !ok || rest != "" && rest[0] != '/' || strings.Contains(rest+"/", "/../") {
		return "", false
	}
	return strings.Trim(rest, "/"), true
}

// above reports whether the mount's root is further up than the namespace's root and
// than the group: "/../.." is above "/", "/a" and "/../a".
func (m mount) above(group string) bool {
	root, rest := ups(m.root)
	of, _ := ups(group)
	return rest == "" && root > of
}

// ups counts the leading "/.." of a path, and returns what follows them.
func ups(path string) (n int, rest string) {
	for {
		rest, ok := strings.CutPrefix(path, "/..")
		if !ok || rest != "" && rest[0] != '/' {
			return n, path
		}
		n, path = n+1, rest
	}
}
