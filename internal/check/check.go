// Package check finds misuse of blocks: it knows who got each block that it watches,
// and who put it back, fills what is idle with poison, and sees whether that is still
// there when the block leaves.
//
// It knows a block by its address and size alone and keeps none alive, so that a block
// that its owner forgets is collected, and reported. A record, not its address, is
// what a report of a leak comes from: by then the address may be another's.
package check

import (
	"math/rand/v2"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"
)

// A Checker watches blocks of one pool. All methods may be called by any number of
// goroutines at once, and take a lock of one of its shards for a map lookup.
type Checker struct {
	Guard  Guard // makes idle blocks fault where it can; nil: nobody does. Set it before any call.
	report func(Violation)
	few    bool // blocks are watched, in a program that has no time for it
	shards [shards]shard
}

// filter says how many watched blocks of all Checkers hash to each place: one for all,
// because a Put that looks there has no time to find its own.
var filter [filterSize]atomic.Uint32

const (
	shards     = 16
	filterSize = 1 << 12
	mostFree   = 64 // records that a shard keeps for the next blocks
	fewShown   = 8  // where few blocks are watched, one in so many is in the profile
)

type shard struct {
	mu   sync.Mutex
	at   map[uintptr]*record
	free []*record
	_    [40]byte
}

// New returns a Checker that calls report for each violation, without locks held. With
// few, one block in very many is watched: then stacks are noted in nanoseconds, see
// package callers, and one watched block in eight is shown in the profile, which takes a
// stack of its own.
func New(few bool, report func(Violation)) *Checker {
	c := &Checker{report: report, few: few}
	for i := range c.shards {
		c.shards[i].at = make(map[uintptr]*record)
	}
	return c
}

// inUse is every watched block that is out or has leaked, by the stack of its Get.
var inUse = sync.OnceValue(func() *pprof.Profile { return pprof.NewProfile("dewpond_inuse") })

// Watched reports whether a block at an address may be watched, by one load: false is
// certain.
func Watched(at uintptr) bool { return filter[slot(at)].Load() != 0 }

// slot spreads addresses, of which the lowest four bits are 0, by Fibonacci hashing.
func slot(at uintptr) uint64 { return uint64(at) * 0x9e3779b97f4a7c15 >> (64 - 12) }

func (c *Checker) shard(at uintptr) *shard { return &c.shards[slot(at)%shards] }

// Get notes that a caller of the pool gets the block at an address, and watches it from
// now on. A block that was watched while it was idle must be intact. heap says that
// the collector has the block if it is forgotten.
func (c *Checker) Get(at uintptr, block []byte, heap bool) {
	var room pcs
	stack := c.callers(&room)
	s := c.shard(at)
	s.mu.Lock()
	if s.at == nil {
		s.mu.Unlock()
		return
	}
	r := s.at[at]
	var found *Violation
	switch {
	case r == nil || r.state == out || r.size != len(block): // new, or a forgotten block's address
		if r != nil && r.watched && r.leaks() { // before its cleanup has come to it
			found = r.violation(Leak, nil)
		}
		r = c.watch(s, at, block, heap)
	case !c.exhume(r, block):
		found = r.violation(WriteAfterPut, stack)
	}
	r.state, r.got, r.put, r.gotAt, r.sum, r.told = out, append(r.got[:0], stack...), r.put[:0], time.Now(), 0, false
	if r.shown = !c.few || rand.IntN(fewShown) == 0; r.shown {
		inUse().Add(r, 1) // under the lock: a second Add of one record would panic
	}
	s.mu.Unlock()
	if found != nil {
		c.report(*found)
	}
}

// A Verdict is what Put found.
type Verdict uint8

const (
	Accepted Verdict = iota // the block was out, and is idle now
	Unknown                 // not a block that is watched
	Refused                 // reported
)

// Put notes that the block at an address comes back. One that is watched must be out.
func (c *Checker) Put(at uintptr, size int) Verdict { return c.put(at, size, nil) }

// Adopt is Put of an object of the Go heap that need not come from the pool: one that
// is not watched is from now on.
func (c *Checker) Adopt(at uintptr, object []byte) Verdict { return c.put(at, len(object), object) }

func (c *Checker) put(at uintptr, size int, adopted []byte) Verdict {
	s := c.shard(at)
	s.mu.Lock()
	r := s.at[at]
	if r == nil || r.size != size || r.dead() {
		if adopted == nil {
			s.mu.Unlock()
			return Unknown
		}
		if r != nil && r.size == size {
			r.leak.Stop() // no help where another has the memory; else a finalizer brought this one back
		}
		r = c.watch(s, at, adopted, true)
	}
	var room pcs
	stack := c.callers(&room)
	if r.state == idle {
		v := r.violation(DoublePut, stack)
		s.mu.Unlock()
		c.report(*v)
		return Refused
	}
	r.state, r.put, r.putAt = idle, append(r.put[:0], stack...), time.Now()
	if r.shown {
		inUse().Remove(r)
	}
	s.mu.Unlock()
	return Accepted
}

// Seal notes what an idle object is like that cannot be poisoned. It must come before
// anybody else can get it.
func (c *Checker) Seal(at uintptr, object []byte) {
	s := c.shard(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.at[at]; r != nil && r.state == idle {
		r.sum = sum(object)
	}
}

// Stranger reports a slice that came back and is no block that was ever handed out:
// one of inside a watched block, or from elsewhere.
func (c *Checker) Stranger(at uintptr, size int) {
	v := Violation{Kind: ForeignPut, Size: size, Offence: exactly()}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for _, r := range s.at {
			if offset := at - r.address; offset != 0 && offset < uintptr(r.size) && !r.dead() {
				offence := v.Offence
				v = *r.violation(InteriorPut, offence)
			}
		}
		s.mu.Unlock()
	}
	c.report(v)
}

// Forget ends the watch of an idle block because it leaves the pool or joins those that
// are not watched. A block that is not intact is a violation: its caller, which may hold
// locks, reports it later.
func (c *Checker) Forget(at uintptr, block []byte) (found *Violation) {
	s := c.shard(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.at[at]
	if r == nil || r.size != len(block) || r.state != idle {
		return nil
	}
	if !c.exhume(r, block) {
		found = r.violation(WriteAfterPut, nil)
	}
	delete(s.at, at)
	filter[slot(at)].Add(^uint32(0))
	if r.watched {
		r.leak.Stop()
	}
	s.forget(r)
	return found
}

// End forgets all blocks, where few are watched: nobody asks about theirs any more, and
// the filter is everybody's.
func (c *Checker) End() {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for at, r := range s.at {
			filter[slot(at)].Add(^uint32(0))
			if r.state == out && r.shown {
				inUse().Remove(r)
			}
		}
		s.at = nil // who was about to Get is not watched
		s.mu.Unlock()
	}
}

// Out returns, as leaks that its caller reports, the watched blocks that have been out for
// longer than age, by the clock of now, and with age 0 all that are out, but none twice;
// and how many others of that clock are out.
func (c *Checker) Out(age time.Duration, now time.Time) (leaks []Violation, left int) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for _, r := range s.at {
			switch {
			case r.state != out || r.told || age > 0 && !sameClock(now, r.gotAt):
			case age == 0 || now.Sub(r.gotAt) > age:
				r.told = true
				leaks = append(leaks, *r.violation(Leak, nil))
			default:
				left++
			}
		}
		s.mu.Unlock()
	}
	return leaks, left
}
