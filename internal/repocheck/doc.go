// Package repocheck holds the repository's own rules, as tests: which package may
// import which, where dangerous code may be, and that all code here is ours. No package
// imports it.
//
//   - layers.go    which package may import which; start here to add a package
//   - addresses.go where unsafe, linkname, system calls and raw atomics may be
//   - foreign.go   how foreign code is recognized
//   - documents.go that links resolve, the README is short and the map is complete
//   - hacking.go   that what HACKING.md names exists
//
// Each of the other files has one rule. [Check] applies all rules to a tree of files.
// It parses the files itself: a test that runs go list is served from the test cache
// although the files have changed, but one that opens them is run again. And it reads
// every file, whatever its build tags, where the go command would read those of one
// platform.
package repocheck
