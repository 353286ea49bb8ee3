package repocheck

import "slices"

// typedAtomics are the names of sync/atomic that are types. Everything else in it
// is a function on a plain variable, which any line may also touch without one.
var typedAtomics = []string{"Bool", "Int32", "Int64", "Pointer", "Uint32", "Uint64", "Uintptr", "Value"}

func checkAtomics(r *repository, report reporter) {
	for _, s := range r.sources {
		if s.nameOf("sync/atomic") == "." {
			report(s.path, 0, "sync/atomic is imported with a dot: nobody sees what is atomic")
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
