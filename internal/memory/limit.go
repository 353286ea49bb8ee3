package memory

import (
	"math"
	"runtime/debug"
	"sync"
)

// GoLimit is the memory limit of the Go runtime: GOMEMLIMIT, or the value that
// debug.SetMemoryLimit set.
var GoLimit = NewLimit(debug.SetMemoryLimit)

// A Limit is a memory limit that can be lowered to account for memory that it does not
// include. It has three states:
//
//	          Lower              changed by another
//	untouched ------> lowered ------------------------> lost
//	    ^                |            seen by Lower       |
//	    +<---------------+<-------------------------------+
//	                  Restore
//
//	untouched  the limit belongs to whoever set it: Lower starts from the value it finds
//	lowered    the limit is what Lower made it
//	lost       another caller has set the limit, and it stays as it is
//
// All methods are safe for concurrent use.
type Limit struct {
	// set is debug.SetMemoryLimit, except in tests: it returns the previous limit, and
	// with a negative argument leaves it unchanged. A call takes some tens of
	// nanoseconds and stops no goroutine, but it takes the heap's lock.
	set func(int64) int64

	mu      sync.Mutex // held for a few calls of set
	state   limitState
	found   int64 // the limit that the first Lower found, in state lowered
	imposed int64 // the limit that the last Lower set
	atFloor bool  // the last Lower was limited by the floor
}

type limitState uint8

const (
	untouched limitState = iota
	lowered
	lost
)

// The limit is never lowered below found/floorShare, nor below floorBytes. A limit
// below the live heap makes the collector run without a pause. How much is live shows
// only after a collection, and grows without notice, so this is a rule that the user
// who sets the limit can observe: with up to a twelfth of it live, the quarter that is
// left is three times the live heap, and there the collector works about as hard as
// with GOGC=100; at twice the live heap it works harder, but not without a pause. An
// idle Go program uses some 5 MiB, and must have room besides.
const (
	floorShare = 4 // divides the limit
	floorBytes = 16 << 20
)

func floor(found int64) int64 { return min(found, max(found/floorShare, floorBytes)) }

// NewLimit returns an untouched Limit. set behaves as debug.SetMemoryLimit does.
func NewLimit(set func(int64) int64) *Limit { return &Limit{set: set} }

// Lower sets the limit to the given number of bytes below the value that it first
// found, but not below the floor. It does nothing if there is no limit. Once it finds a
// value that it did not set, it does nothing until Restore.
func (l *Limit) Lower(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.set(-1)
	switch {
	case l.state == lost:
		return
	case l.state == lowered && now != l.imposed:
		l.state = lost
		return
	case l.state == untouched && now == math.MaxInt64:
		return
	case l.state == untouched:
		l.state, l.found, l.imposed = lowered, now, now
	}
	to := max(l.found-bytes, floor(l.found))
	l.atFloor = to > l.found-bytes
	if to == l.imposed {
		return
	}
	if now = l.set(to); now != l.imposed {
		l.set(now) // another goroutine changed it since it was read: keep that value
		l.state = lost
		return
	}
	l.imposed = to
}

// Restore sets the limit back to the value that Lower first found, if it is still what
// Lower made it. A later Lower starts from the value it finds then.
func (l *Limit) Restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loweredLocked() {
		if now := l.set(l.found); now != l.imposed {
			l.set(now)
		}
	}
	l.state, l.atFloor = untouched, false
}

// Found returns what the limit would be without Lower: the value that Lower first
// found, while the limit is what Lower made it, and otherwise the limit itself.
func (l *Limit) Found() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.set(-1); l.state != lowered || now != l.imposed {
		return now
	}
	return l.found
}

// A Lowering describes how far a Limit is lowered.
type Lowering struct {
	Bytes   int64
	AtFloor bool // Lower was limited by the floor
	Lost    bool // another caller has changed the limit; the other fields are zero
}

// Lowered returns how far the limit is lowered now.
func (l *Limit) Lowered() Lowering {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.state == untouched:
		return Lowering{}
	case !l.loweredLocked():
		return Lowering{Lost: true}
	}
	return Lowering{Bytes: l.found - l.imposed, AtFloor: l.atFloor}
}

// loweredLocked reports whether the limit is what Lower made it. The caller holds l.mu.
func (l *Limit) loweredLocked() bool { return l.state == lowered && l.set(-1) == l.imposed }
