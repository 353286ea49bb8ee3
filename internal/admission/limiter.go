package admission

import (
	"maps"
	"slices"
	"time"

	"github.com/dewpond/dewpond/internal/atomics"
	"github.com/dewpond/dewpond/internal/bubble"
)

// A limiter allows so many misses a second, with at most one second's worth saved
// up. It is the generic cell rate algorithm (ITU-T I.371): one word holds the time
// at which everything that was allowed so far is paid for, at one interval each,
// and it may be at most a second ahead.
//
// There is a word for each clock: one for the world, and one for each testing/synctest
// bubble, which begins anew.
type limiter struct {
	interval int64         // nanoseconds a miss; 0: no limit
	paid     atomics.Int64 // nanoseconds of the clock outside of bubbles

	mu      atomics.Mutex
	bubbles map[uint64]*atomics.Int64 // nanoseconds of its own clock, by the bubble's number
}

// mostBubbles is how many bubbles a limiter remembers, because nobody says when one ends.
// A bubble that is forgotten begins anew.
const mostBubbles = 256

// init allows so many misses a second, or with 0 any number.
func (l *limiter) init(perSecond int) {
	if perSecond > 0 {
		l.interval = max(1, int64(time.Second)/int64(perSecond))
	}
}

func (l *limiter) unlimited() bool { return l.interval == 0 }

// clock returns the caller's time, and what is paid for by that clock.
func (l *limiter) clock() (now int64, paid *atomics.Int64) {
	t := atomics.Now()
	if bubble.In(t) {
		return int64(bubble.Elapsed(t)), l.paidIn(bubble.Of(t))
	}
	return int64(bubble.Elapsed(t)), &l.paid
}

// paidIn returns what is paid for in a bubble, or with 0 outside of all bubbles.
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

// allow reports whether one more miss is allowed now, and counts it.
func (l *limiter) allow() bool {
	if l.unlimited() {
		return true
	}
	now, word := l.clock()
	for {
		paid := word.Load()
		next := max(paid, now) + l.interval
		if next > now+int64(time.Second) {
			return false
		}
		if word.CompareAndSwap(paid, next) {
			return true
		}
	}
}

// restore takes back one that allow counted in a bubble, or with 0 outside of all bubbles,
// and that came to nothing.
func (l *limiter) restore(bubble uint64) {
	if !l.unlimited() {
		l.paidIn(bubble).Add(-l.interval)
	}
}

// delay returns how long it is until allow will be true, if nobody else asks.
func (l *limiter) delay() time.Duration {
	now, paid := l.clock()
	return time.Duration(max(0, paid.Load()+l.interval-int64(time.Second)-now))
}
