// Package measure reads clocks, the Go runtime and the operating system without
// disturbing what is measured. It is the root of a module of its own, which knows no
// pool:
//
//   - recorder.go keeps latencies in a few sharded histograms;
//   - window.go brackets a measured window with the runtime's own counts;
//   - process_linux.go asks the kernel for resident memory;
//   - environment.go says on what machine all this was.
//
// Packages child and rounds run what is to be measured, in processes of its own;
// package result is what they hand on, and the others make a report of it.
package measure
