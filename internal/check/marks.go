package check

import (
	"sync"
	"sync/atomic"
	"time"
)

// Where few blocks are watched, none is while it is idle in the pool. Those that go there on their Put,
// and not by way of a quarantine, are marked instead: how long they are idle is as true of any other.

// mostMarks is how many marks a Checker has at most. A hit of a block with the hash value of a marked one takes a lock,
// whosever that is: so the marks of many Checkers are to have a small part of the filterSize values.
const mostMarks = 64

// marked counts, for each hash value, the marked blocks of all Checkers. It is not the filter, so that
// neither has a caller look closer at more blocks because of the other.
var marked [filterSize]atomic.Uint32

// marks are the idle blocks that are marked, and since when. The Checker may be collected before them.
type marks struct {
	mu    sync.Mutex
	at    map[uintptr]time.Time // nil: ended
	given map[uintptr]bool      // which the Keeper is being given: what it does not keep was never idle
}

func (m *marks) give(at uintptr, given bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if given {
		if m.given == nil {
			m.given = map[uintptr]bool{}
		}
		m.given[at] = true
	} else {
		delete(m.given, at)
	}
}

func (m *marks) isGiven(at uintptr) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.given[at]
}

// Unmarked returns a mask with all bits set if no block at an address is marked, and none if there may be
// one: by one load, and without a branch.
func Unmarked(at uintptr) uint32 { return uint32(int32(marked[slot(at)].Load()-1) >> 31) }

// mark marks a block that its Put gives to the pool, unless there are too many: a mark that made room for it would
// count for less time than its block is idle, or not at all, and the more likely the longer that is.
func (c *Checker) mark(at uintptr) {
	m := c.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.at == nil {
		return
	}
	if _, again := m.at[at]; again { // the block was lost to the pool, and another is at its address
		m.remove(at)
	}
	if len(m.at) == mostMarks {
		return
	}
	m.at[at] = time.Now()
	marked[slot(at)].Add(1)
}

// Unmark notes that a caller gets a block that may be marked.
func (c *Checker) Unmark(at uintptr) { c.unmark(at, true) }

// unmark removes the mark of a block if it has one, and counts how long it was idle if it was.
func (c *Checker) unmark(at uintptr, wasIdle bool) {
	if Unmarked(at) != 0 {
		return
	}
	m := c.marks
	m.mu.Lock()
	defer m.mu.Unlock()
	if since, ok := m.at[at]; ok {
		m.remove(at)
		if wasIdle {
			c.Sample.Idle.since(since, time.Now())
		}
	}
}

// remove removes a mark. The marks are locked.
func (m *marks) remove(at uintptr) {
	delete(m.at, at)
	marked[slot(at)].Add(^uint32(0))
}

// end removes all marks for good.
func (m *marks) end() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for at := range m.at {
		m.remove(at)
	}
	m.at = nil
}
