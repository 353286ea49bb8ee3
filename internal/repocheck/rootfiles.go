package repocheck

import "bytes"

const (
	// mostRootFiles is how many source files the root package may have: what is there is
	// read as a whole. What is not API belongs in an internal package, with tests of its
	// own that need no pool.
	mostRootFiles = 22
	// mostRootLines is how long each of them may be.
	mostRootLines = 520
)

// checkRootFiles requires that the root package stays small enough to be read.
func checkRootFiles(r *repository, report reporter) {
	files := 0
	for _, s := range r.sources {
		if s.test || s.dir != "." {
			continue
		}
		files++
		if lines := bytes.Count(s.data, []byte("\n")); lines > mostRootLines {
			report(s.path, 0, "it has %d lines, more than %d: move what is not API to an internal package", lines, mostRootLines)
		}
	}
	if files > mostRootFiles {
		report(".", 0, "the root package has %d source files, more than %d: move what is not API to an internal package", files, mostRootFiles)
	}
}
