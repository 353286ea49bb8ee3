// Package measure reads clocks, the Go runtime and the operating system for the
// drivers of package workload, without disturbing what they drive:
//
//   - recorder.go keeps latencies in a few sharded histograms;
//   - window.go brackets a measured window with the runtime's own counts;
//   - process_linux.go asks the kernel for resident memory;
//   - environment.go says on what machine all this was.
package measure
