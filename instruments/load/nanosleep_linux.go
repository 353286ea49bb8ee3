package load

import (
	"syscall"
	"time"
)

// nanosleep blocks its thread. time.Sleep shares a thread of the runtime's with everything that
// polls, which rounds waits of less than 1 ms up to 1 ms.
func nanosleep(d time.Duration) {
	left := syscall.NsecToTimespec(int64(d))
	syscall.Nanosleep(&left, nil) // who calls looks at the clock, and so may wake up too early
}
