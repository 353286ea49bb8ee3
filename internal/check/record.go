package check

import (
	"runtime"
	"time"
	"weak"
)

// A record is what is known of a watched block. The lock of its shard guards it. It is
// used again for another block, so what may come late names the use too.
type record struct {
	use      uint64
	checker  *Checker
	address  uintptr
	size     int
	state    state
	got, put Stack
	gotAt    time.Time
	putAt    time.Time
	sum      uint64 // of an idle block that Seal left as it is; else it is poisoned
	leak     runtime.Cleanup
	alive    weak.Pointer[byte] // the block, where all are watched and the collector has them
	guarded  bool               // idle, and faults on any touch
	watched  bool               // leak was set
	told     bool               // of its leak
	shown    bool               // in the profile
}

type state uint8

const (
	out state = iota
	idle
)

// watch makes a record of a block. The shard is locked.
func (c *Checker) watch(s *shard, at uintptr, block []byte, heap bool) *record {
	r := s.blank()
	r.checker, r.address, r.size = c, at, len(block)
	if s.at[at] == nil {
		filter[slot(at)].Add(1)
	}
	s.at[at] = r
	if heap {
		r.hang(collectedBlock{c, at, r, r.use}, block)
	}
	return r
}

// hang makes the collector tell of a block. One that is not its own, though the pool is
// on the heap, it refuses by a panic: that block is nobody's to miss.
func (r *record) hang(b collectedBlock, block []byte) {
	defer func() { r.watched = recover() == nil }()
	r.leak = runtime.AddCleanup(&block[0], collectedBlock.collected, b)
	if !b.checker.few {
		r.alive = weak.Make(&block[0])
	}
}

// blank returns a record of nothing.
func (s *shard) blank() *record {
	n := len(s.free)
	if n == 0 {
		return new(record)
	}
	r := s.free[n-1]
	s.free = s.free[:n-1]
	return r
}

// forget takes a record that is no block's any more. Its stacks keep their room.
func (s *shard) forget(r *record) {
	*r = record{use: r.use + 1, got: r.got[:0], put: r.put[:0]}
	if len(s.free) < mostFree {
		s.free = append(s.free, r)
	}
}

// A collectedBlock is what the collector tells. It may come late: the memory has been
// another's since, under whose name the record has ended. Stop is no help then.
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
		delete(s.at, r.address)
		filter[slot(r.address)].Add(^uint32(0))
	}
	v := r.violation(Leak, nil)
	s.mu.Unlock()
	if leaked {
		b.checker.report(*v)
	}
}

// dead reports whether a record is of a block that was collected, of which the collector
// has not told yet: somebody else's memory lies there now.
func (r *record) dead() bool { return r.alive != (weak.Pointer[byte]{}) && r.alive.Value() == nil }

// leaks reports whether a block is out, but only once. The shard is locked.
func (r *record) leaks() bool {
	if r.state != out || r.told {
		return false
	}
	r.told = true
	return true
}

// sameClock reports whether both times or none are of a testing/synctest bubble, which
// have no monotonic part.
func sameClock(a, b time.Time) bool { return (a == a.Round(0)) == (b == b.Round(0)) }

// violation describes an offence against a block, with copies of all stacks. The shard
// is locked.
func (r *record) violation(kind Kind, offence Stack) *Violation {
	since := r.gotAt
	if r.state == idle {
		since = r.putAt
	}
	return &Violation{Kind: kind, Size: r.size, Age: time.Since(since), Got: r.got.clone(), Put: r.put.clone(), Offence: offence.clone()}
}
