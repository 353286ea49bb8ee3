// Package measure observes its own process without disturbing what it measures:
//
//   - recorder.go keeps latencies in a few sharded histograms;
//   - window.go brackets a measured window with the runtime's own counts;
//   - process_linux.go asks the kernel for resident memory;
//   - environment.go describes the machine.
//
// It is the root of a separate module, which knows no pool. Packages child and rounds run what
// is measured, each round in a process of its own. Package result holds what they return. The
// other packages make a report of that: see package report.
package measure
