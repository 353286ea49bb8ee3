package repocheck

func checkUnsafe(r *repository, report reporter) {
	for _, s := range r.sources {
		for p, spec := range s.imports() {
			// pin.go and its like must import it to use go:linkname.
			if p != "unsafe" || s.isAt(unsafeAddresses) || s.isAt(linknameAddresses) {
				continue
			}
			if s.test && s.isAt(unsafeTestAddresses) {
				continue
			}
			report(s.path, r.line(spec.Pos()), "unsafe outside its addresses (see internal/repocheck/addresses.go)")
		}
	}
}
