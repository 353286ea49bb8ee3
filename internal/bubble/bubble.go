// Package bubble distinguishes the clocks and goroutines of testing/synctest bubbles.
//
// A bubble has its own clock, and a goroutine that waits in it can be woken only from within
// it: a send from elsewhere is a fatal error. So at any time the waiters of one pool are all
// in one bubble, or all in none ([Sleepers]). A call that would break this rule, or would have
// to wake a waiter that it cannot reach, panics.
package bubble

import (
	"bytes"
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
	if number := numberIn(header); number != 0 {
		return number
	}
	return unnumbered
}

// numberIn returns the number of the bubble that the header of a stack names, or 0 if it names none.
func numberIn(header []byte) uint64 {
	_, number, _ := bytes.Cut(header, []byte("synctest bubble "))
	digits := number[:len(number)-len(bytes.TrimLeft(number, "0123456789"))]
	n, _ := strconv.ParseUint(string(digits), 10, 64) // 0 if there is none
	return n
}

// ended reports whether the bubble of a number has ended, and left goroutines behind that wait for
// each other. One that has left none is not known.
func ended(number uint64) bool {
	lives, seen := living()[number]
	return seen && !lives
}

// living returns whether the bubbles that have a goroutine live: something there runs
// [synctest.Test], or does anything else but wait. It returns nil if it cannot tell. The stacks begin
// with, for instance, "goroutine 7 [synctest.Run (durable), synctest bubble 3]:".
func living() map[uint64]bool {
	const most = 1 << 28
	stacks := make([]byte, 1<<20)
	n := runtime.Stack(stacks, true)
	for ; n == len(stacks) && n < most; n = runtime.Stack(stacks, true) {
		stacks = make([]byte, 4*n)
	}
	if n == len(stacks) {
		return nil // not all were seen
	}
	live := map[uint64]bool{}
	for line := range bytes.Lines(stacks[:n]) {
		state, _, ok := bytes.Cut(line, []byte("]"))
		if !ok || !bytes.HasPrefix(line, []byte("goroutine ")) {
			continue
		}
		if number := numberIn(state); number != 0 {
			live[number] = live[number] || !bytes.Contains(state, []byte("(durable)")) || bytes.Contains(state, []byte("[synctest.Run"))
		}
	}
	return live
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
