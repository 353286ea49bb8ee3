package tradepool

import (
	"sync"
	"time"
)

// limit is how many misses a second may allocate, as the text has it.
const limit = 50_000

// A limiter counts within windows of a second that follow each other, which it calls a sliding
// window.
type limiter struct {
	mu    sync.Mutex
	began time.Time
	used  int
}

func (l *limiter) allow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.began) >= time.Second {
		l.began, l.used = now, 0
	}
	l.used++
	return l.used <= limit
}
