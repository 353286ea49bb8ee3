// Package check finds misuse of blocks. It records which caller got each block that it
// watches, and which put it back, fills idle blocks with poison, and checks that the
// poison is intact when the block leaves the pool.
//
// It knows a block by its address and size alone and keeps none alive, so that a block
// that its owner loses is collected, and reported. The report of a leak comes from the
// block's record, not from its address, which may belong to another block by then.
package check

import (
	"math/rand/v2"
	"runtime/pprof"
	"sync"
	"sync/atomic"
	"time"
)

// A Checker watches blocks of one pool. All methods are safe for concurrent use. The
// methods for one block lock one of the Checker's shards for a map lookup.
type Checker struct {
	Guard  Guard // makes idle blocks fault if it can; may be nil. Set it before any call.
	report func(Violation)
	few    bool // few blocks are watched, and the program has no time to spare
	shards [shards]shard
}

// filter counts, for each hash value, the watched blocks of all Checkers. There is one
// for all, because a Put that looks there has no time to find its own.
var filter [filterSize]atomic.Uint32

const (
	shards     = 16
	filterSize = 1 << 12
	mostFree   = 64 // records that a shard keeps for reuse
	fewShown   = 8  // if few blocks are watched, one in this many is in the profile
)

type shard struct {
	mu   sync.Mutex
	at   map[uintptr]*record
	free []*record
	_    [40]byte
}

// New returns a Checker that calls report for each violation, without locks held. few
// says that one block in very many is watched: then stacks are recorded in nanoseconds,
// see package callers, and one watched block in eight is in the profile, which records
// a stack of its own.
func New(few bool, report func(Violation)) *Checker {
	c := &Checker{report: report, few: few}
	for i := range c.shards {
		c.shards[i].at = make(map[uintptr]*record)
	}
	return c
}

// inUse returns the profile of every watched block that is out or has leaked, by the
// stack of its Get.
var inUse = sync.OnceValue(func() *pprof.Profile { return pprof.NewProfile("dewpond_inuse") })

// Watched reports whether a block at an address may be watched, by one load. False is
// certain.
func Watched(at uintptr) bool { return filter[slot(at)].Load() != 0 }

// slot hashes an address, whose lowest four bits are 0, by Fibonacci hashing.
func slot(at uintptr) uint64 { return uint64(at) * 0x9e3779b97f4a7c15 >> (64 - 12) }

func (c *Checker) shard(at uintptr) *shard { return &c.shards[slot(at)%shards] }

// Get records that a caller of the pool gets the block at an address, and watches the
// block from now on. A block that was watched while it was idle must be intact. heap
// says that the collector frees the block if it is lost.
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
	case r == nil || r.state == out || r.size != len(block): // new, or at the address of a lost block
		if r != nil && r.watched && r.leaks() { // before its cleanup has run
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
	Accepted Verdict = iota // the block was out, and is now idle
	Unknown                 // the block is not watched
	Refused                 // a violation, which Put has reported
)

// Put records that the block at an address comes back. A watched block must be out.
func (c *Checker) Put(at uintptr, size int) Verdict { return c.put(at, size, nil) }

// Adopt is Put for an object of the Go heap that need not come from the pool: an object
// that is not watched is watched from now on.
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
			r.leak.Stop() // has no effect if the memory is another object's, but does if a finalizer resurrected this one
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

// Seal records the content of an idle object that cannot be poisoned. It must be called
// before another goroutine can get the object.
func (c *Checker) Seal(at uintptr, object []byte) {
	s := c.shard(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.at[at]; r != nil && r.state == idle {
		r.sum = sum(object)
	}
}

// Stranger reports a foreign Put: of a slice of the inside of a watched block, or of
// one that the pool never handed out.
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

// Forget ends the watch of an idle block, because it leaves the pool or joins the
// blocks that are not watched. If the block is not intact Forget returns the violation,
// because its caller may hold locks and must report it later.
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

// End forgets all blocks of a Checker that watches few: no caller asks about them any
// more, and the filter is shared by all Checkers.
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
		s.at = nil // a concurrent Get watches nothing
		s.mu.Unlock()
	}
}

// Out returns, as leaks that its caller reports, the watched blocks that have been out
// for longer than age by the clock of now, or with age 0 all that are out. It returns
// no block twice. left is how many other blocks of that clock are out.
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
