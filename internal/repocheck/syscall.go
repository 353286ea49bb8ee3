package repocheck

import "strings"

func checkSyscall(r *repository, report reporter) {
	for _, s := range r.sources {
		for p, spec := range s.imports() {
			if isSyscall(p) && !s.isAt(syscallAddresses) {
				report(s.path, r.line(spec.Pos()),
					"%s: system calls are allowed only at the addresses in internal/repocheck/addresses.go; for signals use os.Interrupt and os/signal", p)
			}
		}
	}
}

// isSyscall reports whether a package lets its importer call the system, or C, past the
// rest of the standard library.
func isSyscall(importPath string) bool {
	switch importPath {
	case "syscall", "C", "runtime/cgo":
		return true
	}
	return strings.HasPrefix(importPath, "syscall/") || matches("golang.org/x/sys/...", importPath)
}
