// Package pressure decides how scarce memory is: low, medium or high.
//
// It looks at three things, and the worst of them counts:
//
//   - how near memory in use is to a limit: the Go runtime's and the caller's
//     off-heap bytes to GOMEMLIMIT and to 95 % of the cgroup's hard limit, the
//     cgroup's working set to its own limit (groups.go);
//   - how long tasks wait for memory: Linux's pressure stall information, PSI
//     (stalls.go);
//   - whether the garbage collector ran out of processor time (gomemory.go).
//
// A source that is not there, cannot be read or makes no sense has no say. Where
// there is neither a cgroup nor PSI, as on every system but Linux, GOMEMLIMIT
// remains; without that too, the level is Low.
//
// A Reader reads, a Hysteresis makes levels of readings, and is pure; a Monitor
// is both, on the system that the program runs on. Nothing here starts a
// goroutine, keeps a file open or reads unless asked.
package pressure
