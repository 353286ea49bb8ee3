// Package kit observes its own process without disturbing what it measures:
//
//   - recorder.go keeps latencies in a few sharded histograms;
//   - window.go brackets a measured window with the runtime's own counts;
//   - process_linux.go asks the kernel for resident memory;
//   - environment.go describes the machine.
//
// It is the root of a separate module, which imports no pool and names none: what knows the contenders
// and the scenarios of the bench is in cmd/dewpond.
//
// Packages child and rounds run what is measured, each round in a process of its own. Package
// result holds what they return, package summary pairs it round by round, package verdict says what
// is better, and package figure how a figure is written. Packages bars, page and palette draw.
// Packages outputs, progress and terminal are what a command shows meanwhile and where it
// writes. Package garbage is work for the collector, package documented for tests.
package kit
