package pressure

import "sync"

// levelsKept is how many levels a follower may be behind. The level falls at most once
// in 10 s and rises by at most two levels, so these last for minutes.
const levelsKept = 64

// A Log has the levels that were shown, each once, in order, so that a follower that
// reads it now and then misses none. The zero Log is empty, which counts as Low. It is
// safe for concurrent use.
type Log struct {
	mu     sync.Mutex
	count  int               // number of levels ever added
	recent [levelsKept]Level // the last of them, each at its number modulo levelsKept
}

// Add adds a level that is about to be shown.
func (l *Log) Add(level Level) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent[l.count%levelsKept] = level
	l.count++
}

// Next returns the level of a number, and the number of the next level. If the level is
// no longer kept, Next returns the oldest that is. ok is false if no level has that
// number yet.
func (l *Log) Next(number int) (level Level, next int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number >= l.count {
		return Low, number, false
	}
	number = max(number, l.count-levelsKept)
	return l.recent[number%levelsKept], number + 1, true
}

// Last returns the number of the last level that was added, or, if there is none, of
// the first that will be.
func (l *Log) Last() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, l.count-1)
}
