package repocheck

import "slices"

// typedAtomics are the names of sync/atomic that are types. All other names are
// functions on a plain variable, which any line may also access without them.
var typedAtomics = []string{"Bool", "Int32", "Int64", "Pointer", "Uint32", "Uint64", "Uintptr", "Value"}

func checkAtomics(r *repository, report reporter) {
	for _, s := range r.sources {
		if s.nameOf("sync/atomic") == "." {
			report(s.path, 0, "sync/atomic is imported with a dot: a reader cannot see what is atomic")
		}
		for name, use := range s.uses("sync/atomic") {
			allowed := slices.Contains(typedAtomics, name) ||
				s.isAt(rawAtomicAddresses) && slices.Contains(rawAtomicFunctions, name)
			if !allowed {
				report(s.path, r.line(use.Pos()), "atomic.%s on a plain variable: use a typed atomic, such as atomic.Uint64", name)
			}
		}
	}
}
