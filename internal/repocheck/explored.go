package repocheck

import "slices"

// checkExplored requires that the code which the explorer of instruments/proof runs
// synchronizes through internal/atomics alone. The explorer sees nothing else, and
// would find no fault there.
func checkExplored(r *repository, report reporter) {
	for _, s := range r.sources {
		if s.test || !s.isAt(exploredAddresses) || s.isAt(unexploredAddresses) {
			continue
		}
		for p, spec := range s.imports() {
			if p == "sync" {
				report(s.path, r.line(spec.Pos()), "the explorer does not see package sync: use internal/atomics")
			}
		}
		for name, use := range s.uses("sync/atomic") {
			if slices.Contains(typedAtomics, name) {
				report(s.path, r.line(use.Pos()), "the explorer does not see atomic.%s: use internal/atomics", name)
			}
		}
		for name, use := range s.uses("time") {
			if name == "AfterFunc" || name == "NewTimer" {
				report(s.path, r.line(use.Pos()), "the explorer does not see time.%s: use internal/atomics", name)
			}
		}
	}
}
