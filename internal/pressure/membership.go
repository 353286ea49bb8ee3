package pressure

import "strings"

// membership is the content of /proc/self/cgroup: the groups that this process is in,
// as paths from the root of its cgroup namespace. See cgroups(7).
type membership struct {
	memory  string // version 1's group for memory; "" if memory is not on version 1
	unified string // version 2's group; "" if there is none
}

// parseMembership parses lines "number:controllers:path". Version 2's is "0::path". A
// path may contain colons.
func parseMembership(text string) (m membership) {
	for line := range strings.Lines(text) {
		parts := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(parts) != 3 || !strings.HasPrefix(parts[2], "/") {
			continue
		}
		if parts[0] == "0" {
			m.unified = parts[2]
		}
		for controller := range strings.SplitSeq(parts[1], ",") {
			if controller == "memory" {
				m.memory = parts[2]
			}
		}
	}
	return m
}
