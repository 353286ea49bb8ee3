package check

import (
	"container/list"
	"runtime"
	"time"
	"weak"

	"github.com/dewpond/dewpond/misuse"
)

// A record is what is known of a watched block. The lock of its shard guards it.
// Records are reused, so a cleanup, which may run late, names the use as well as the
// record.
type record struct {
	use        uint64
	checker    *Checker
	address    uintptr
	size       int
	state      state
	got, put   Stack
	gotAt      time.Time
	putAt      time.Time
	seal       []byte     // what an idle block must be like, if it is sealed and not poisoned
	owners     *list.List // of *Owner of a lease of the block: those that Retain made and that have not released; may be nil
	leak       runtime.Cleanup
	alive      weak.Pointer[byte] // the block, if all blocks are watched and on the Go heap
	sealed     bool               // seal is in force
	released   bool               // the owner of a lease that got the block has released
	guarded    bool               // idle, and faults on any touch
	hasCleanup bool               // leak was set
	reported   bool               // its leak has been reported
	excused    bool               // its owner may lose it: see Excuse
	profiled   bool               // in the profile
}

type state uint8

const (
	out state = iota
	idle
)

// track makes a record of a block. The shard is locked.
func (c *Checker) track(s *shard, at uintptr, block []byte, heap bool) *record {
	if len(s.at) >= s.full {
		c.forgetLost(s)
	}
	r := s.blank()
	r.checker, r.address, r.size = c, at, len(block)
	if other := s.at[at]; other != nil {
		c.untrack(s, other)
		if other.excused && !other.hasCleanup {
			s.forgetExcused(other)
		}
	}
	filter[slot(at)].Add(1)
	s.at[at] = r
	if !c.sampled {
		c.pages.add(at, r.size)
	}
	if heap {
		r.addCleanup(block)
		if c.MayLose {
			r.excuse()
		}
	}
	return r
}

// forgetLost forgets the blocks that excused owners have lost. The shard is locked.
func (c *Checker) forgetLost(s *shard) {
	for _, r := range s.at {
		if r.excused && !r.hasCleanup && r.dead() {
			c.untrack(s, r)
			s.forgetExcused(r)
		}
	}
	s.full = max(mostFree, 2*len(s.at))
}

// forgetExcused forgets the record of a block that was lost and is no longer tracked.
func (s *shard) forgetExcused(r *record) {
	if r.state == out && r.profiled {
		(*inUse.Load()).Remove(r)
	}
	s.forget(r)
}

// untrack forgets where a block is. The shard is locked.
func (c *Checker) untrack(s *shard, r *record) {
	delete(s.at, r.address)
	filter[slot(r.address)].Add(^uint32(0))
	if !c.sampled {
		c.pages.remove(r.address, r.size)
	}
}

// addCleanup makes the collector report a lost block. AddCleanup panics for a block that is
// not on the Go heap, as an Allocator of the caller's may return it, and does nothing for a variable
// of a package, of which Go 1.24 cannot make a weak pointer: such a block is never collected.
func (r *record) addCleanup(block []byte) {
	defer func() { _ = recover() }()
	r.leak = runtime.AddCleanup(&block[0], collectedBlock.collected, collectedBlock{r.checker, r.address, r, r.use})
	r.hasCleanup = r.leak != (runtime.Cleanup{})
	if r.hasCleanup && !r.checker.sampled {
		r.alive = weak.Make(&block[0])
	}
}

// excuse notes that the owner of a block may lose it. Where all blocks are watched these may be
// many: so no cleanup forgets them, which runs in a goroutine that a test's search for leaked
// goroutines sees, but a Get or Put. The shard is locked.
func (r *record) excuse() {
	r.excused = true
	if r.hasCleanup && !r.checker.sampled {
		r.leak.Stop()
		r.hasCleanup = false
	}
}

// blank returns an unused record.
func (s *shard) blank() *record {
	n := len(s.free)
	if n == 0 {
		return new(record)
	}
	r := s.free[n-1]
	s.free = s.free[:n-1]
	return r
}

// mostSealed is the capacity of the largest seal that a record keeps for reuse.
const mostSealed = 4096

// forget keeps a record that belongs to no block any more for reuse. Its stacks and its seal
// keep their capacity.
func (s *shard) forget(r *record) {
	if cap(r.seal) > mostSealed {
		r.seal = nil
	}
	*r = record{use: r.use + 1, got: r.got[:0], put: r.put[:0], seal: r.seal[:0]}
	if len(s.free) < mostFree {
		s.free = append(s.free, r)
	}
}

// A collectedBlock identifies a block to its cleanup. The cleanup may run late, when
// the memory belongs to another block; then the record's use has ended. Stop would not
// prevent that.
type collectedBlock struct {
	checker *Checker
	address uintptr
	record  *record
	use     uint64
}

func (b collectedBlock) collected() {
	s, r := b.checker.shard(b.address), b.record
	s.mu.Lock()
	if r.use != b.use {
		s.mu.Unlock()
		return
	}
	leaked := r.leaks()
	if s.at[r.address] == r {
		b.checker.untrack(s, r)
	}
	if !leaked {
		if r.excused && r.state == out {
			s.forgetExcused(r)
		}
		s.mu.Unlock()
		return
	}
	v := r.violation(misuse.Leak, nil)
	defer b.checker.begin().end()
	s.mu.Unlock()
	b.checker.reportLost(*v)
}

// dead reports whether the record's block was collected and its cleanup has not run
// yet. The address may already be in use again.
func (r *record) dead() bool { return r.alive != (weak.Pointer[byte]{}) && r.alive.Value() == nil }

// leaks reports whether a block is out, and true only once. The shard is locked.
func (r *record) leaks() bool {
	if r.state != out || r.reported || r.excused {
		return false
	}
	r.reported = true
	return true
}

// sameClock reports whether both times or neither are of a testing/synctest bubble:
// those have no monotonic part. One bubble it cannot tell from another.
func sameClock(a, b time.Time) bool { return (a == a.Round(0)) == (b == b.Round(0)) }

// violation describes an offence against a block, with copies of all stacks. The shard is
// locked.
func (r *record) violation(kind misuse.Kind, offence Stack) *misuse.Violation {
	since := r.gotAt
	if r.state == idle {
		since = r.putAt
	}
	v := &misuse.Violation{
		Kind: kind, Size: r.size, Age: time.Since(since), Count: 1, Bytes: r.size,
		Got: r.got.clone(), Put: r.put.clone(), Offence: offence.clone(),
	}
	if kind == misuse.Leak {
		v.Owners = r.ownersLeft()
	}
	return v
}
