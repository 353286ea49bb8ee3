// Package programs measures public programs with dewpond in place of the pools that they have, beside
// themselves as they are.
//
// No code of theirs is kept. A [Program] names a module and a version, which the module proxy has,
// and a few rules by which a copy is edited: the recipe and the diffs of docs/migrating.md, or pairs of
// a text and what stands in its place. The copy passes the program's own tests, once more
// where all pools are watched, and then its benchmarks or loads of ours run in turn with those of the
// program as it is. The loads are in the directory _loads; they become test files of the program.
//
// What checked mode reports is counted and not shown: a fault of somebody else goes to who
// maintains the program first.
package programs
