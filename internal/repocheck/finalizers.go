package repocheck

// checkFinalizers: a finalizer resurrects its object, keeps a cycle alive for ever
// and is one for each object; a cleanup does none of that.
func checkFinalizers(r *repository, report reporter) {
	for _, s := range r.sources {
		for name, use := range s.uses("runtime") {
			if name == "SetFinalizer" {
				report(s.path, r.line(use.Pos()), "runtime.SetFinalizer: use runtime.AddCleanup")
			}
		}
	}
}
