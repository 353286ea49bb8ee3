package repocheck

// checkFinalizers: a finalizer resurrects its object, keeps a cycle alive for ever
// and is one for each object; a cleanup does none of that. Where blocks of the Go heap are
// known by address it is resurrection that is wanted: an address must not be another's
// before it is forgotten.
func checkFinalizers(r *repository, report reporter) {
	for _, s := range r.sources {
		if s.path == "internal/memory/heap.go" {
			continue
		}
		for name, use := range s.uses("runtime") {
			if name == "SetFinalizer" {
				report(s.path, r.line(use.Pos()), "runtime.SetFinalizer: use runtime.AddCleanup")
			}
		}
	}
}
