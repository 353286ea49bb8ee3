package dewpond

import (
	"sync/atomic"
	"time"
)

// A limiter allows so many misses a second, with at most one second's worth saved
// up. It is the generic cell rate algorithm (ITU-T I.371): one word holds the time
// at which everything that was allowed so far is paid for, at one interval each,
// and it may be at most a second ahead.
type limiter struct {
	interval int64 // nanoseconds a miss; 0: no limit
	start    time.Time
	paid     atomic.Int64 // nanoseconds since start
}

func newLimiter(perSecond int) limiter {
	if perSecond == 0 {
		return limiter{}
	}
	return limiter{interval: max(1, int64(time.Second)/int64(perSecond)), start: time.Now()}
}

func (l *limiter) unlimited() bool { return l.interval == 0 }

// allow reports whether one more miss is allowed now, and counts it.
func (l *limiter) allow() bool {
	if l.unlimited() {
		return true
	}
	now := int64(time.Since(l.start))
	for {
		paid := l.paid.Load()
		next := max(paid, now) + l.interval
		if next > now+int64(time.Second) {
			return false
		}
		if l.paid.CompareAndSwap(paid, next) {
			return true
		}
	}
}

// restore takes back that allow counted one, which came to nothing.
func (l *limiter) restore() { l.paid.Add(-l.interval) }

// delay returns how long it is until allow will be true, if nobody else asks.
func (l *limiter) delay() time.Duration {
	next := l.paid.Load() + l.interval - int64(time.Second)
	return max(0, time.Duration(next)-time.Since(l.start))
}
