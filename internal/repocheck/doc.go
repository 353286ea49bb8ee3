// Package repocheck holds the repository's own rules, as tests: who may import
// whom, where danger lives, and that all code here is ours. Nothing imports it.
//
//   - layers.go    which package may import which; start here to add a package
//   - addresses.go where unsafe, linkname, system calls and raw atomics may be
//   - foreign.go   how someone else's code is told
//   - documents.go that links resolve, the README is short and the map is whole
//   - hacking.go   that HACKING.md names what is there
//
// The other files are a rule each. Check applies all of them to a tree of files.
// It parses the files itself: a test that asks go list is served from the test
// cache although the files have changed, one that opens them is run again. And it
// reads every file, whatever its build tags, where the go command would see those
// of one platform.
package repocheck
