// Package repocheck holds the repository's rules, as tests. A rule guards what is
// dangerous, or what would be wrong without anybody's notice; what a reviewer sees has
// none. Only a test imports this package.
//
//   - layers.go    which package may import which; start here to add a package
//   - addresses.go where unsafe, linkname, system calls and raw atomics may be
//   - documents.go that links lead somewhere, and the map is complete
//   - hacking.go   that what HACKING.md names exists, and its picture is the code's
//   - recipes.go   that its recipes name the files that their tests edit
//   - citations.go that what is cited can be looked up
//
// Each of the other files has one rule. [Check] applies all rules to a tree of files.
// It parses the files itself: a test that runs go list is served from the test cache
// although the files have changed, but one that opens them is run again. And it reads
// every file, whatever its build tags, where the go command would read those of one
// platform.
package repocheck
