package contender

import (
	"sync"
	"time"
)

// fallbackPerSecond is how many misses a second treiber's limiter allows.
const fallbackPerSecond = 50_000

// A fallbackLimiter is treiber's: a mutex, and a window that starts again each second.
type fallbackLimiter struct {
	mu    sync.Mutex
	began time.Time
	used  int
}

func (l *fallbackLimiter) allow() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := time.Now(); now.Sub(l.began) >= time.Second {
		l.began, l.used = now, 0
	}
	if l.used >= fallbackPerSecond {
		return false
	}
	l.used++
	return true
}
