package admission

import (
	"maps"
	"slices"
	"time"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
)

// A limiter allows a number of misses a second, with at most one second's worth saved up. It
// is the generic cell rate algorithm (ITU-T I.371). One word holds the time up to which the
// misses so far are paid for: each miss adds one interval. The word may be at most a second
// ahead of the clock.
//
// There is one word for each clock: one outside of testing/synctest bubbles, and one for each
// bubble, which starts without any misses counted.
type limiter struct {
	interval int64         // nanoseconds for one miss; 0: no limit
	paid     atomics.Int64 // nanoseconds of the clock outside of bubbles

	mu      atomics.Mutex
	bubbles map[uint64]*atomics.Int64 // nanoseconds of each bubble's clock, by the bubble's number
}

// mostBubbles is how many bubbles a limiter remembers. It needs a bound because nothing tells
// when a bubble ends. A bubble that was forgotten starts again with no misses counted.
const mostBubbles = 256

// init allows perSecond misses a second, or any number if perSecond is 0.
func (l *limiter) init(perSecond int) {
	if perSecond > 0 {
		l.interval = max(1, int64(time.Second)/int64(perSecond))
	}
}

func (l *limiter) unlimited() bool { return l.interval == 0 }

// clock returns the caller's time, and the word of that clock.
func (l *limiter) clock() (now int64, paid *atomics.Int64) {
	t := atomics.Now()
	if bubble.In(t) {
		return int64(bubble.Elapsed(t)), l.paidIn(bubble.Of(t))
	}
	return int64(bubble.Elapsed(t)), &l.paid
}

// paidIn returns the word of a bubble's clock; 0 is the clock outside of bubbles.
func (l *limiter) paidIn(bubble uint64) *atomics.Int64 {
	if bubble == 0 {
		return &l.paid
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	paid := l.bubbles[bubble]
	if paid == nil {
		if l.bubbles == nil {
			l.bubbles = make(map[uint64]*atomics.Int64)
		}
		if len(l.bubbles) == mostBubbles {
			delete(l.bubbles, slices.Min(slices.Collect(maps.Keys(l.bubbles)))) // the oldest
		}
		paid = new(atomics.Int64)
		l.bubbles[bubble] = paid
	}
	return paid
}

// ever reports whether allow could allow n misses at once, if it is called at the right time.
func (l *limiter) ever(n int) bool {
	return l.unlimited() || int64(n) <= int64(time.Second)/l.interval
}

// allow counts n more misses if all of them are allowed now, and reports whether they are.
func (l *limiter) allow(n int) bool {
	if l.unlimited() {
		return true
	}
	if !l.ever(n) { // the product below could overflow
		return false
	}
	now, word := l.clock()
	for {
		paid := word.Load()
		next := max(paid, now) + int64(n)*l.interval
		if next > now+int64(time.Second) {
			return false
		}
		if word.CompareAndSwap(paid, next) {
			return true
		}
	}
}

// restore gives back n misses that allow counted in a bubble, or outside of bubbles if bubble
// is 0.
func (l *limiter) restore(bubble uint64, n int) {
	if !l.unlimited() && n > 0 {
		l.paidIn(bubble).Add(-int64(n) * l.interval)
	}
}

// delay returns the time until allow(n) returns true, if no other goroutine calls it before.
func (l *limiter) delay(n int) time.Duration {
	now, paid := l.clock()
	return time.Duration(max(0, paid.Load()+int64(n)*l.interval-int64(time.Second)-now))
}
