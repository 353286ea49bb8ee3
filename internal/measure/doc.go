// Package measure watches a process from within, without disturbing what it measures:
//
//   - recorder.go keeps latencies in a few sharded histograms;
//   - window.go brackets a measured window with the runtime's own counts;
//   - process_linux.go asks the kernel for resident memory;
//   - environment.go says on what machine all this was.
//
// It is the root of a module of its own, which knows no pool. Packages child and rounds
// run what is to be measured, each round in a process of its own. Package result is what
// they hand on. Of that the others make a report: see package report.
package measure
