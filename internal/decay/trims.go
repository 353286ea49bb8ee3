package decay

import (
	"sync"
	"time"

	"github.com/dewpond/dewpond/internal/bubble"
)

// trimEvery is how often AllAtOnce empties a pool at most. What a pool that is in use
// has idle is needed again at once: to trim it more often costs misses, and memory.
const trimEvery = time.Second

// trimming is held during InTurn. While a trim waits for its stops of the world every Get
// of the pool misses; the trims of hundreds of pools at once would wait for each other's. A
// mutex, because callers that wait may be in different testing/synctest bubbles; not one
// that the explorer sees, because its scenarios would share it.
var trimming sync.Mutex

// InTurn calls trim, which hands blocks to release, while no other call of InTurn does. It
// lets the next one go ahead when the first block is handed to release, which may be a
// program's code: by then Gets find blocks again.
func InTurn[B any](trim func(release func(class uint8, block B)), release func(class uint8, block B)) {
	var once sync.Once
	done := func() {
		once.Do(func() {
			afterTrim()
			trimming.Unlock()
		})
	}
	trimming.Lock()
	defer done()
	beforeTrim()
	trim(func(class uint8, block B) {
		done()
		release(class, block)
	})
}

var beforeTrim, afterTrim = func() {}, func() {}

// CountTrims has InTurn call before and after, one at a time, until end is called. It is
// for tests.
func CountTrims(before, after func()) (end func()) {
	set := func(b, a func()) {
		trimming.Lock()
		defer trimming.Unlock()
		beforeTrim, afterTrim = b, a
	}
	set(before, after)
	return func() { set(func() {}, func() {}) }
}

// A lastTrim is when AllAtOnce emptied a pool last, for each of two clocks: that of
// testing/synctest bubbles and the other.
type lastTrim struct {
	at      [2]time.Time
	running bool
}

// begin reports whether the pool may be emptied at the time now. Then the caller empties
// it. A clock that was set back, as that of a later bubble is, hinders nothing.
func (l *lastTrim) begin(now time.Time) bool {
	since := now.Sub(*l.of(now))
	if l.running || since >= 0 && since < trimEvery {
		return false
	}
	l.running = true
	return true
}

// end is called once the pool is empty.
func (l *lastTrim) end(now time.Time) {
	*l.of(now) = now
	l.running = false
}

func (l *lastTrim) of(now time.Time) *time.Time {
	if bubble.In(now) {
		return &l.at[1]
	}
	return &l.at[0]
}
