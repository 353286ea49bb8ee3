package memory

import (
	"math"
	"runtime/debug"
	"sync"
)

// GoLimit is the memory limit of the Go runtime: GOMEMLIMIT, or what
// debug.SetMemoryLimit made of it.
var GoLimit = NewLimit(debug.SetMemoryLimit)

// A Limit is a memory limit that may be lowered for memory that it does not see. It
// has three states:
//
//	          Lower                another's change
//	untouched ------> lowered ------------------------> lost
//	    ^                |            seen by Lower       |
//	    +<---------------+<-------------------------------+
//	                  Restore
//
//	untouched  the limit is whosever it is: Lower takes up what it finds
//	lowered    it is what Lower made it
//	lost       it is somebody else's, and stays as it is
//
// All methods may be called by any number of goroutines at once.
type Limit struct {
	// set is debug.SetMemoryLimit but in tests: it returns the limit from before, and
	// leaves it with a negative number. A call takes some tens of nanoseconds and stops
	// nobody, but it takes the heap's lock.
	set func(int64) int64

	mu      sync.Mutex // held for a few calls of set
	state   limitState
	found   int64 // in untouched state
	made    int64 // by the last Lower
	atFloor bool  // and that was not all that it was asked for
}

type limitState uint8

const (
	untouched limitState = iota
	lowered
	lost
)

// The limit is never lowered to less than a floorShare-th of what it was, nor below
// floorBytes. A limit below what is alive makes the collector run without a pause.
// How much is alive shows only after a collection, and grows without a word to us, so
// this is a rule that whoever sets the limit can keep to: with up to a twelfth of it
// alive, the quarter that is left is three times that, and there the collector works
// about as hard as with GOGC=100; at twice it works harder, but not without a pause.
// A Go program that does nothing has some 5 MiB, and must have room beside them.
const (
	floorShare = 4 // the limit by this
	floorBytes = 16 << 20
)

func floor(found int64) int64 { return min(found, max(found/floorShare, floorBytes)) }

// NewLimit returns an untouched Limit. set is as debug.SetMemoryLimit.
func NewLimit(set func(int64) int64) *Limit { return &Limit{set: set} }

// Lower makes the limit so many bytes lower than it was found, but not lower than
// its floor. Where there is no limit it does nothing. Once it finds a limit that it
// did not make it does nothing either, until Restore.
func (l *Limit) Lower(bytes int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.set(-1)
	switch {
	case l.state == lost:
		return
	case l.state == lowered && now != l.made:
		l.state = lost
		return
	case l.state == untouched && now == math.MaxInt64:
		return
	case l.state == untouched:
		l.state, l.found, l.made = lowered, now, now
	}
	to := max(l.found-bytes, floor(l.found))
	l.atFloor = to > l.found-bytes
	if to == l.made {
		return
	}
	if now = l.set(to); now != l.made {
		l.set(now) // somebody changed it since it was read: theirs stays
		l.state = lost
		return
	}
	l.made = to
}

// Restore makes the limit what it was found, if it is still what Lower made it. A
// later Lower takes up what it finds then.
func (l *Limit) Restore() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.loweredLocked() {
		if now := l.set(l.found); now != l.made {
			l.set(now)
		}
	}
	l.state, l.atFloor = untouched, false
}

// Found returns what the limit would be if nobody had called Lower: what it was
// found, while it is what Lower made it, and else what it is.
func (l *Limit) Found() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	if now := l.set(-1); l.state != lowered || now != l.made {
		return now
	}
	return l.found
}

// Lowered is how far a Limit has been lowered.
type Lowered struct {
	Bytes   int64
	AtFloor bool // it was to be more
	Lost    bool // somebody else has changed it; then the others are zero
}

// Lowered returns how far the limit is lowered now.
func (l *Limit) Lowered() Lowered {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case l.state == untouched:
		return Lowered{}
	case !l.loweredLocked():
		return Lowered{Lost: true}
	}
	return Lowered{Bytes: l.found - l.made, AtFloor: l.atFloor}
}

// loweredLocked reports whether the limit is what Lower made it.
func (l *Limit) loweredLocked() bool { return l.state == lowered && l.set(-1) == l.made }
