// Package bubble distinguishes the clocks and goroutines of testing/synctest bubbles.
//
// A bubble has its own clock, and a goroutine that waits in it can be woken only from within
// it: a send from elsewhere is a fatal error. So at any time the waiters of one pool are all
// in one bubble, or all in none ([Sleepers]). A call that would break this rule, or would have
// to wake a waiter that it cannot reach, panics.
package bubble

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"time"
)

// began and bubblesBegin are the origins of the two kinds of clock.
var (
	began        = time.Now() // outside of bubbles: no time is earlier than the start of this package
	bubblesBegin = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// In reports whether now comes from a bubble's clock: such a time has no monotonic part.
func In(now time.Time) bool { return now == now.Round(0) }

// Elapsed returns how long the clock that now comes from has been running.
func Elapsed(now time.Time) time.Duration {
	if In(now) {
		return now.Sub(bubblesBegin)
	}
	return now.Sub(began)
}

// unnumbered stands for a bubble whose number was not found.
const unnumbered = math.MaxUint64

// Of returns the number of the caller's bubble, or 0 if the caller is in none. now is the time
// of the caller's clock. Every bubble of a process has its own number. It is found in the
// header of the goroutine's stack, "goroutine 7 [running, synctest bubble 3]:", which takes
// some microseconds to read.
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

// ended reports whether the bubble of a number has ended, and left goroutines behind that wait for
// each other. It has if none of its goroutines runs [synctest.Test], nor does anything else but wait. The stacks begin
// with, for instance, "goroutine 7 [synctest.Run (durable), synctest bubble 3]:".
func ended(number uint64) bool {
	const most = 1 << 28
	stacks := make([]byte, 1<<20)
	n := runtime.Stack(stacks, true)
	for ; n == len(stacks) && n < most; n = runtime.Stack(stacks, true) {
		stacks = make([]byte, 4*n)
	}
	if n == len(stacks) || number == unnumbered {
		return false // not all were seen
	}
	end := []byte(fmt.Sprintf(", synctest bubble %d]:", number))
	for line := range bytes.Lines(stacks[:n]) {
		head, ok := bytes.CutSuffix(bytes.TrimSuffix(line, []byte("\n")), end)
		if ok && bytes.HasPrefix(head, []byte("goroutine ")) &&
			(!bytes.Contains(head, []byte("(durable)")) || bytes.Contains(head, []byte("[synctest.Run"))) {
			return false
		}
	}
	return true
}

// A Stamp is a time of the caller's clock: how long the clock has been running, in
// nanoseconds. For the clock of a bubble it is the complement of that.
type Stamp = int64

// StampOf returns the stamp of a time.
func StampOf(now time.Time) Stamp {
	if In(now) {
		return ^int64(Elapsed(now))
	}
	return int64(Elapsed(now))
}

// Since returns how long before now a stamp was made. A stamp of another clock counts as made
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
