// Package repocheck holds the repository's rules, as tests. A rule guards what is
// dangerous, or what would break unnoticed; what a reviewer sees has none. Only a test
// imports this package.
//
//   - layers.go    which package may import which; start here to add a package
//   - addresses.go where unsafe, linkname, system calls and raw atomics may be
//   - links.go     that links in documents lead somewhere
//
// Each of the other files has one rule. [Check] applies all rules to a tree of files.
// It parses the files itself: a test that runs go list is served from the test cache
// although the files have changed, but one that opens them is run again. And it reads
// every file, whatever its build tags, where the go command would read those of one
// platform.
package repocheck
