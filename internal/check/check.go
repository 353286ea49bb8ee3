// Package check finds misuse of blocks. It records which caller got each block that it
// watches, and which put it back, fills idle blocks with poison, and checks that the
// poison is intact when the block leaves the pool.
//
// It knows a block by its address and size alone and keeps none alive, so that a block
// that its owner loses is collected, and reported. The report of a leak comes from the
// block's record, not from its address, which may belong to another block by then.
package check

import (
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
	"weak"

	"github.com/dewpond/dewpond/misuse"
)

// A Checker watches blocks of one pool. All methods are safe for concurrent use. The
// methods for one block lock one of the Checker's shards for a map lookup.
type Checker struct {
	Guard   Guard   // makes idle blocks fault if it can; may be nil. Set it before any call.
	Layout  *Layout // of the objects, or of the elements of the blocks, that are sealed. Set it before any call.
	MayLose bool    // owners may lose any block, which is no leak: see Excuse. Set it before any call.
	Sample  Sample
	report  func(misuse.Violation)
	sampled bool // few blocks are watched, and the program has no time to spare
	shards  [shards]shard
	pages   pages // of all blocks, unless few are watched
	marks   *marks
}

// filter counts, for each hash value, the watched blocks of all Checkers. There is one
// for all, because a Put that looks there has no time to find its own.
var filter [filterSize]atomic.Uint32

const (
	shards        = 16
	filterSize    = 1 << filterBits // so that what 16 pools have in quarantine has a sixteenth of it
	filterBits    = 16
	mostFree      = 64 // records that a shard keeps for reuse
	profiledOneIn = 8  // if few blocks are watched, one in this many is in the profile
)

type shard struct {
	mu   sync.Mutex
	at   map[uintptr]*record
	free []*record
	full int // how many records there may be before track looks for those of lost blocks
	_    [32]byte
}

// New returns a Checker that calls report for each violation, without locks held. sampled
// says that one block in very many is watched: then stacks are recorded in nanoseconds,
// see package callers, and one watched block in eight is in the profile, which records
// a stack of its own.
func New(sampled bool, report func(misuse.Violation)) *Checker {
	c := &Checker{report: report, sampled: sampled, marks: new(marks)}
	if sampled {
		c.marks.at = make(map[uintptr]time.Time)
		runtime.AddCleanup(c, (*marks).end, c.marks) // the filter is shared by all Checkers
	}
	for i := range c.shards {
		c.shards[i].at = make(map[uintptr]*record)
	}
	return c
}

// Watched reports whether a block at an address may be watched, by one load. False is
// certain.
func Watched(at uintptr) bool { return filter[slot(at)].Load() != 0 }

// slot hashes an address, whose lowest four bits are 0, by Fibonacci hashing.
func slot(at uintptr) uint64 { return uint64(at) * 0x9e3779b97f4a7c15 >> (64 - filterBits) }

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
	var found *misuse.Violation
	now := time.Now()
	if r != nil && r.state == idle && r.size == len(block) {
		c.Sample.Idle.since(r.putAt, now)
	}
	c.Sample.Watched.Add(1)
	switch {
	case r == nil || r.state == out || r.size != len(block): // new, or at the address of a lost block
		if r != nil && r.hasCleanup && r.leaks() { // before its cleanup has run
			found = r.violation(misuse.Leak, nil)
		}
		r = c.track(s, at, block, heap)
	case !c.verify(r, block):
		found = r.written(block, stack)
	}
	r.state, r.got, r.put, r.gotAt = out, append(r.got[:0], stack...), r.put[:0], now
	r.sealed, r.reported, r.owners, r.released, r.excused = false, false, nil, false, c.MayLose
	if r.alive != (weak.Pointer[byte]{}) && !r.hasCleanup && !r.excused { // its last owner was
		r.addCleanup(block)
	}
	profile := inUse.Load()
	if r.profiled = profile != nil && (!c.sampled || rand.IntN(profiledOneIn) == 0); r.profiled {
		(*profile).Add(r, ownFrames(stack)) // under the lock: a second Add of one record would panic
	}
	if found == nil {
		s.mu.Unlock()
		return
	}
	defer c.begin().end()
	s.mu.Unlock()
	if found.Kind == misuse.Leak {
		c.reportLost(*found)
	} else {
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
func (c *Checker) Put(at uintptr, size int) Verdict { return c.putOrAdopt(at, size, nil) }

// Adopt is Put for an object of the Go heap that need not come from the pool: an object
// that is not watched is watched from now on.
func (c *Checker) Adopt(at uintptr, object []byte) Verdict {
	return c.putOrAdopt(at, len(object), object)
}

func (c *Checker) putOrAdopt(at uintptr, size int, adopted []byte) Verdict {
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
		r = c.track(s, at, adopted, true)
	}
	var room pcs
	stack := c.callers(&room)
	if r.state == idle {
		v := r.violation(misuse.DoublePut, stack)
		s.mu.Unlock()
		c.report(*v)
		return Refused
	}
	r.state, r.put, r.putAt = idle, append(r.put[:0], stack...), time.Now()
	if !r.gotAt.IsZero() { // else it is adopted
		c.Sample.Out.since(r.gotAt, r.putAt)
	}
	if r.profiled {
		(*inUse.Load()).Remove(r)
	}
	s.mu.Unlock()
	return Accepted
}

// SizeAt returns the size of the watched block that begins at an address. All blocks are watched.
func (c *Checker) SizeAt(at uintptr) (size int, ok bool) {
	c.look(at, func(r *record) { size, ok = r.size, true })
	return size, ok
}

// Overlaps reports whether a slice shares bytes with a watched block. All blocks are watched.
func (c *Checker) Overlaps(at uintptr, size int) (any bool) {
	for _, start := range c.pages.near(at, size) {
		c.look(start, func(r *record) {
			any = any || at < r.address+uintptr(r.size) && r.address < at+uintptr(size)
		})
	}
	return any
}

// look calls f with the record of the block that begins at an address, if there is one. The shard
// is locked.
func (c *Checker) look(at uintptr, f func(*record)) {
	s := c.shard(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.at[at]; r != nil && !r.dead() {
		f(r)
	}
}

// near returns where all watched blocks begin that may have the byte at an address.
func (c *Checker) near(at uintptr) (starts []uintptr) {
	if !c.sampled {
		return c.pages.near(at, 1)
	}
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		starts = slices.AppendSeq(starts, maps.Keys(s.at))
		s.mu.Unlock()
	}
	return starts
}

// Excuse says of a block that is out that its owner may lose it: it is no leak. MayLose says so of
// every block.
func (c *Checker) Excuse(at uintptr) {
	s := c.shard(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.at[at]; r != nil && r.state == out {
		r.excuse()
	}
}

// Seal records what is watched of an idle object that cannot be poisoned. It must be called
// before another goroutine can get the object.
func (c *Checker) Seal(at uintptr, object []byte) {
	s := c.shard(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.at[at]; r != nil && r.state == idle {
		r.seal, r.sealed = r.seal[:0], true
		for _, part := range c.Layout.watched(object) {
			r.seal = append(r.seal, part...)
		}
	}
}

// Stranger returns the violation of a foreign Put: of a slice of the inside of a watched
// block, or of one that the pool never handed out. Its Offence is the stack of the caller.
func (c *Checker) Stranger(at uintptr, size int) misuse.Violation {
	offence := exactly()
	if v := c.Around(at); v != nil && v.Offset > 0 {
		v.Kind, v.Offence = misuse.InteriorPut, offence
		return *v
	}
	return misuse.Violation{Kind: misuse.ForeignPut, Size: size, Count: 1, Bytes: size, Offence: offence}
}

// Around returns what is known of the watched block that an address is in, as a Violation of
// no kind, or nil.
func (c *Checker) Around(at uintptr) (found *misuse.Violation) {
	for _, start := range c.near(at) {
		c.look(start, func(r *record) {
			if offset := at - r.address; offset < uintptr(r.size) {
				found = r.violation(0, nil)
				found.Offset = int(offset)
			}
		})
	}
	return found
}

// Forget ends the watch of an idle block, because it leaves the pool or joins the
// blocks that are not watched. If the block is not intact Forget returns the violation,
// because its caller may hold locks and must report it later.
func (c *Checker) Forget(at uintptr, block []byte) (found *misuse.Violation) {
	kept := !c.marks.isGiven(at)
	c.unmark(at, kept)
	s := c.shard(at)
	s.mu.Lock()
	defer s.mu.Unlock()
	r := s.at[at]
	if r == nil || r.size != len(block) || r.state != idle {
		return nil
	}
	if !c.verify(r, block) {
		found = r.written(block, nil)
	}
	if !c.sampled && kept { // where few are watched it leaves quarantine, and see mark
		c.Sample.Idle.since(r.putAt, time.Now())
	}
	c.untrack(s, r)
	if r.hasCleanup {
		r.leak.Stop()
	}
	s.forget(r)
	return found
}

// End forgets all blocks of a Checker that watches a sample: no caller asks about them any
// more, and the filter is shared by all Checkers.
func (c *Checker) End() {
	c.marks.end()
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		for at, r := range s.at {
			filter[slot(at)].Add(^uint32(0))
			if r.state == out && r.profiled {
				(*inUse.Load()).Remove(r)
			}
		}
		s.at = nil // a concurrent Get watches nothing
		s.mu.Unlock()
	}
}
