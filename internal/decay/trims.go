package decay

import (
	"sync"
	"time"

	"github.com/dewpond/dewpond/internal/bubble"
)

// trimEvery is the shortest interval at which AllAtOnce empties a pool. The idle blocks of a pool
// in use are needed again soon: trimming it more often costs misses and memory.
const trimEvery = time.Second

// trimming is held during InTurn. While a trim waits until it has stopped the world, every Get of
// the pool misses; the trims of hundreds of pools at once would wait for each other. It is a
// mutex because callers that wait may be in different testing/synctest bubbles. The explorer
// does not see it, because its scenarios would share it.
var trimming sync.Mutex

// InTurn calls trim of the named pool, which passes blocks to release. Only one call of InTurn runs trim at a time.
// It admits the next call when the first block is passed to release, which may be the program's
// code: by then Gets find blocks again.
func InTurn[B any](pool string, trim func(release func(class uint8, block B)), release func(class uint8, block B)) {
	var once sync.Once
	done := func() {
		once.Do(func() {
			afterTrim()
			trimming.Unlock()
		})
	}
	trimming.Lock()
	defer done()
	beforeTrim(pool)
	trim(func(class uint8, block B) {
		done()
		release(class, block)
	})
}

var (
	beforeTrim = func(pool string) {}
	afterTrim  = func() {}
)

// CountTrims makes InTurn call before, with the name of the pool, and after, one at a time, until
// end is called. It is for tests.
func CountTrims(before func(pool string), after func()) (end func()) {
	set := func(b func(string), a func()) {
		trimming.Lock()
		defer trimming.Unlock()
		beforeTrim, afterTrim = b, a
	}
	set(before, after)
	return func() { set(func(string) {}, func() {}) }
}

// A lastTrim is the time at which AllAtOnce last emptied a pool, for each of two clocks: that of
// testing/synctest bubbles, and the other.
type lastTrim struct {
	at      [2]time.Time
	running bool
}

// begin reports whether the pool may be emptied at the time now; then the caller empties it. A
// clock that was set back, such as that of a later bubble, does not prevent it.
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
