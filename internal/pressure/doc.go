// Package pressure decides how scarce memory is: low, medium or high.
//
// It looks at three things, and the worst of them counts:
//
//   - how near the memory in use is to a limit: the Go runtime's and the caller's off-heap
//     bytes to GOMEMLIMIT and to 95 % of the cgroup's hard limit, the cgroup's working
//     set to its own limit (groups.go);
//   - how long tasks wait for memory: Linux's pressure stall information, PSI (stalls.go);
//   - whether the garbage collector ran out of processor time (gomemory.go).
//
// A source that does not exist, cannot be read or makes no sense is ignored. Without a
// cgroup and PSI, as on every system but Linux, GOMEMLIMIT remains; without that too,
// the level is [Low].
//
// A [Reader] takes readings. A [Hysteresis] turns readings into levels, and is pure. A
// [Monitor] does both, on the system that the program runs on. This package starts no
// goroutine, keeps no file open, and reads only when asked.
package pressure
