// Package bubble tells apart the clocks and the goroutines of testing/synctest bubbles.
//
// A bubble has a clock of its own, and a goroutine that waits in it can be woken only
// from within it: a send from elsewhere is a fatal error. So those who wait for one pool
// at one time are all in one bubble or all in none (Sleepers), and a call that would
// break this, or would have to wake what it cannot, panics.
package bubble

import (
	"bytes"
	"math"
	"runtime"
	"strconv"
	"time"
)

// began and bubblesBegin are what the two kinds of clock count from.
var (
	began        = time.Now() // in no bubble: none is older than this package
	bubblesBegin = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// In reports whether a time comes from a bubble's clock: it has no monotonic part.
func In(now time.Time) bool { return now == now.Round(0) }

// Elapsed returns how long the clock that a time comes from has been running.
func Elapsed(now time.Time) time.Duration {
	if In(now) {
		return now.Sub(bubblesBegin)
	}
	return now.Sub(began)
}

// unnumbered stands for a bubble whose number cannot be found.
const unnumbered = math.MaxUint64

// Of returns the number of the caller's bubble, whose clock says now, or 0 where the
// caller is in none. No two bubbles of a process have one number. Only the header of a
// stack has it, "goroutine 7 [running, synctest bubble 3]:", and to read that takes some
// microseconds.
func Of(now time.Time) uint64 {
	if !In(now) {
		return 0
	}
	stack := make([]byte, 128)
	header, _, _ := bytes.Cut(stack[:runtime.Stack(stack, false)], []byte("\n"))
	if _, number, ok := bytes.Cut(header, []byte("synctest bubble ")); ok {
		digits := number[:len(number)-len(bytes.TrimLeft(number, "0123456789"))]
		if n, err := strconv.ParseUint(string(digits), 10, 64); err == nil {
			return n
		}
	}
	return unnumbered
}

// A Stamp is a time by the caller's clock: how long that has been running, in
// nanoseconds, or for the clock of a bubble the complement of that.
type Stamp = int64

// StampOf returns the stamp of a time.
func StampOf(now time.Time) Stamp {
	if In(now) {
		return ^int64(Elapsed(now))
	}
	return int64(Elapsed(now))
}

// Since returns how long before now a stamp was made. A stamp by another clock was made
// long ago.
func Since(s Stamp, now time.Time) time.Duration {
	n := StampOf(now)
	switch {
	case s >= 0 && n >= 0:
		return time.Duration(n - s)
	case s < 0 && n < 0 && n <= s:
		return time.Duration(s - n)
	}
	return math.MaxInt64
}
