package repocheck

// checkFinalizers forbids finalizers. A finalizer resurrects its object, keeps a cycle
// alive forever, and an object has only one; a cleanup has none of these drawbacks. A
// Budget, which knows blocks by address, needs the resurrection: an address must not
// belong to another block before it is forgotten. And what must not get lost after a
// collection uses one, because cleanups may: see atomics.AfterCollection and atomics.Witness, and the
// example gcfloor, which has neither. A test has objects whose owners gave them one.
func checkFinalizers(r *repository, report reporter) {
	for _, s := range r.sources {
		if s.path == "internal/memory/heap.go" || s.path == "internal/atomics/collection.go" || s.path == "examples/gcfloor/main.go" || s.path == "dewsync/finalizer_test.go" {
			continue
		}
		for name, use := range s.uses("runtime") {
			if name == "SetFinalizer" {
				report(s.path, r.line(use.Pos()), "runtime.SetFinalizer: use runtime.AddCleanup")
			}
		}
	}
}
