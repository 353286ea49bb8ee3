package pressure

import "sync"

// levelsKept is how many levels a follower may be behind. The level falls at most once in
// 10 s and has two steps to rise, so these are those of minutes.
const levelsKept = 64

// A Log has the levels that were shown, each once, in order, so that a follower that looks
// now and then misses none. The zero Log is empty, which counts as Low. It is safe for
// concurrent use.
type Log struct {
	mu    sync.Mutex
	count int               // of all that were added
	last  [levelsKept]Level // the last of them, each at its number modulo levelsKept
}

// Add is called with a level that is about to be shown.
func (l *Log) Add(level Level) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last[l.count%levelsKept] = level
	l.count++
}

// Next returns a level that was added, and the number of the one after it. Of those that
// are kept no more it returns the oldest that is. It returns false if there is none yet of
// that number.
func (l *Log) Next(number int) (level Level, next int, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if number >= l.count {
		return Low, number, false
	}
	number = max(number, l.count-levelsKept)
	return l.last[number%levelsKept], number + 1, true
}

// Last returns the number of the last level that was added, or of the first that will be.
func (l *Log) Last() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return max(0, l.count-1)
}
