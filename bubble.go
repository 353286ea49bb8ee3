package dewpond

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"time"
)

// A testing/synctest bubble has a clock of its own, and a goroutine that waits in it can
// be woken from within it alone: from elsewhere the send is a fatal error. So those who
// wait for a pool at one time wait all in one bubble or all in none, and a call that
// would break this, or would have to wake what it cannot, panics.

// began and bubblesBegin are what the two kinds of clock count from.
var (
	began        = time.Now() // in no bubble: none is older than this package
	bubblesBegin = time.Date(2000, time.January, 1, 0, 0, 0, 0, time.UTC)
)

// inBubble reports whether a time comes from a bubble's clock: that has no monotonic
// part.
func inBubble(now time.Time) bool { return now == now.Round(0) }

// unnumbered stands for a bubble whose number is not to be had.
const unnumbered = math.MaxUint64

// bubbleOf returns the number of the caller's bubble, whose clock says now, or 0 where it
// is in none. No two bubbles of a process have one number. Only a stack's header tells
// it, "goroutine 7 [running, synctest bubble 3]:", at the cost of some microseconds.
func bubbleOf(now time.Time) uint64 {
	if !inBubble(now) {
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

// A stamp is a time by the caller's clock: nanoseconds from began on, or the complement
// of nanoseconds from bubblesBegin on.
type stamp = int64

func stampNow() stamp {
	now := time.Now()
	if inBubble(now) {
		return ^int64(now.Sub(bubblesBegin))
	}
	return int64(now.Sub(began))
}

// sinceStamp returns how long ago a stamp was made. What was by another clock is long ago.
func sinceStamp(s stamp) time.Duration {
	now := stampNow()
	switch {
	case s >= 0 && now >= 0:
		return time.Duration(now - s)
	case s < 0 && now < 0 && now <= s:
		return time.Duration(s - now)
	}
	return math.MaxInt64
}

// sleepers are those who wait for a Pool, or for a BytePool and the others of its Budget.
// The lock of the lists that they are in guards them.
type sleepers struct {
	n      int
	bubble uint64 // in which they all wait; 0: in none
	others string // what else than the pool they may wait for
}

// admit counts one more that waits, in a bubble or in none, unless others wait elsewhere.
func (s *sleepers) admit(bubble uint64) bool {
	if s.n > 0 && s.bubble != bubble {
		return false
	}
	s.n++
	s.bubble = bubble
	return true
}

// leave counts one less.
func (s *sleepers) leave() { s.n-- }

// inReach reports whether the caller can wake them: those in no bubble everybody can.
func (s *sleepers) inReach() bool {
	return s.n == 0 || s.bubble == 0 || s.bubble == bubbleOf(time.Now())
}

// sharing reports whether their clock is the caller's. There are some.
func (s *sleepers) sharing() bool { return s.bubble == bubbleOf(time.Now()) }

// apart is what a call panics with that they keep from its work on a pool.
func (s *sleepers) apart(pool string) string {
	if s.bubble == 0 {
		return fmt.Sprintf("dewpond: a wait for pool %q in a testing/synctest bubble, while others wait for it%s outside of the bubble, "+
			"from where nobody could end this one: make a pool in each bubble, see package dewtest", pool, s.others)
	}
	return fmt.Sprintf("dewpond: pool %q is used outside of the testing/synctest bubble in which somebody waits for it%s: "+
		"only that bubble can end the wait, so until then the pool is its alone; make a pool in each bubble, see package dewtest", pool, s.others)
}
