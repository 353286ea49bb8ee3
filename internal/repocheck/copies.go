package repocheck

import "bytes"

// copies are files that are in two places because each is read there. The first is the original.
var copies = [][2]string{
	{"load/scenariofile/session.yaml", "examples/matchmaker/session.yaml"}, // what dewload shows runs on the service that it is of
}

// checkCopies requires that a copy is equal to its original.
func checkCopies(r *repository, report reporter) {
	files := map[string]*file{}
	for _, f := range r.files {
		files[f.path] = f
	}
	for _, c := range copies {
		original, copied := files[c[0]], files[c[1]]
		switch {
		case original == nil && copied == nil: // a module alone
		case original == nil || copied == nil || !bytes.Equal(original.data, copied.data):
			report(c[1], 0, "it must be equal to %s: cp %s %s", c[0], c[0], c[1])
		}
	}
}
