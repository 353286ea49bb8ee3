package dewpond

import (
	"sync"

	"github.com/dewpond/dewpond/internal/pressure"
)

// levelsKept is how many levels a watcher may be behind. The level falls at most once in
// 10 s and has two steps to rise, so these are those of minutes.
const levelsKept = 64

// levels are the levels that Pressure has shown, each once, in order: so that those who
// look now and then miss none. The first is low.
var levels struct {
	mu    sync.Mutex
	count int               // of all that were added
	last  [levelsKept]Level // the last of them, each at its number modulo levelsKept
}

// addLevel is called with a level that Pressure is about to show.
func addLevel(level pressure.Level) {
	levels.mu.Lock()
	defer levels.mu.Unlock()
	levels.last[levels.count%levelsKept] = Level(level)
	levels.count++
}

// nextLevel returns a level that was added, and the number of the one after it. Of those
// that are kept no more it returns the oldest that is. It returns false if there is none
// yet of that number.
func nextLevel(number int) (level Level, next int, ok bool) {
	levels.mu.Lock()
	defer levels.mu.Unlock()
	if number >= levels.count {
		return 0, number, false
	}
	number = max(number, levels.count-levelsKept)
	return levels.last[number%levelsKept], number + 1, true
}

// currentLevel returns the number of the last level that was added, or of the first that
// will be.
func currentLevel() int {
	levels.mu.Lock()
	defer levels.mu.Unlock()
	return max(0, levels.count-1)
}
