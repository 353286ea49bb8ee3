package magazine

import "github.com/dewpond/dewpond/internal/atomics"

// A demand lets the bound on idle bytes follow what was out: what comes back from a burst is what
// the next burst takes. Idle and in use together may reach the most that was in use at one time
// within the last timeout. Of that time decay knows: see [Engine.Follow].
//
// made counts both at once, so a hit or a Put that the engine keeps changes nothing, and a block
// that its owner has lost is on both sides of the comparison. A Put of a slice that no Get has
// returned brings idle bytes that made does not count. So Follow raises made to what is idle, and
// it never falls below 0: then fewer seem to be in use for a while, but never less than none.
type demand struct {
	share   *share       // of the Allowance; nil: the bound is hard
	claimed atomics.Bool // the share goes back when the engine is collected
	lost    *atomics.Witness
	unit    int64 // bytes of memory for each byte that a block's size counts
	base    int64 // the bound of a pool that had no burst
	step    int64 // Missed looks once in so many bytes

	made atomics.Int64     // bytes of blocks that were made, and not let go
	peak atomics.Heuristic // the most that was in use within the last timeout, or base if that is more
	next atomics.Heuristic // Missed looks when made is as much

	seen atomics.Heuristic // the most that Missed has seen in use since the last Peak
	low  atomics.Heuristic // the sum of what Low has returned since then, in bytes
}

func (d *demand) init(a *Allowance, base, unit int64) {
	if a != nil {
		d.share = &share{of: a}
	}
	d.base, d.unit, d.step = base, max(1, unit), max(1, base/16)
	d.peak.Store(base)
	d.next.Store(base - d.step)
}

func (d *demand) follows() bool { return d.share != nil }

// beyond returns how much of so many reserved bytes exceeds base.
func (d *demand) beyond(reserved int64) int64 { return max(0, reserved-d.base) }

// Missed says that n blocks of a class were made for callers that found none idle. Once in a while
// it looks how much is in use.
func (e *Engine) Missed(class uint8, n int) {
	e.Wanted(class, n)
	if d := &e.demand; d.follows() {
		if made := d.made.Add(int64(n) * int64(e.sizes[class])); made > d.peak.Load()-d.step && made >= d.next.Load() {
			e.look()
		}
	}
}

// Came says that the engine was given n blocks of a class, by [Engine.Add], that no Get has
// returned.
func (e *Engine) Came(class uint8, n int) {
	if d := &e.demand; d.follows() {
		d.made.Add(int64(n) * int64(e.sizes[class]))
	}
}

// Gone says that n blocks of a class that were in use will not come back: the pool has released them.
func (e *Engine) Gone(class uint8, n int) { e.GoneBytes(int64(n) * int64(e.sizes[class])) }

// GoneBytes is Gone for bytes of blocks.
func (e *Engine) GoneBytes(bytes int64) { e.gone(bytes) }

// released is for idle blocks that leave the engine. As large a part of what was cut goes with them.
func (e *Engine) released(bytes int64) {
	if made := e.gone(bytes); e.demand.follows() {
		e.bounds.uncut(bytes, made+bytes)
	}
}

// gone returns how many bytes are made and not gone.
func (e *Engine) gone(bytes int64) (made int64) {
	d := &e.demand
	if !d.follows() {
		return 0
	}
	made = d.made.Add(-bytes)
	for made < 0 && !d.made.CompareAndSwap(made, 0) {
		made = d.made.Load()
	}
	made = max(0, made)
	lower(&d.next, made+d.step)
	return made
}

// look counts what is in use, unless another goroutine counts or replaces the array. What comes into
// use until the next look is in the answer.
func (e *Engine) look() {
	e.demand.share.of.refresh()
	if !e.mu.TryLock() {
		return
	}
	defer e.mu.Unlock()
	d := &e.demand
	made := d.made.Load()
	d.next.Store(made + d.step)
	used := max(0, made-e.idleLocked()) + d.step
	higher(&d.seen, used)
	e.raise(used)
}

// idleLocked returns the bytes of all idle blocks. The caller holds e.mu.
func (e *Engine) idleLocked() (bytes int64) {
	e.fold(e.array())
	for class := range e.depots.Made() {
		bytes += int64(e.classCounts(class).Idle) * int64(e.sizes[class])
	}
	return bytes
}

// raise lets idle and in use together reach a peak.
func (e *Engine) raise(peak int64) {
	d := &e.demand
	if peak > d.base && d.claimed.CompareAndSwap(false, true) { // what is beyond goes with the engine, if nobody closes it
		d.lost = atomics.NewWitness(d.share.giveAll)
	}
	higher(&d.peak, peak)
}

// higher records in most that a count is now v, if that is more than it has been.
func higher(most *atomics.Heuristic, v int64) {
	for m := most.Load(); v > m; m = most.Load() {
		if most.CompareAndSwap(m, v) {
			return
		}
	}
}

// Peak returns the most bytes that were in use at one time since the last call, or a little
// more: what a shard had idle all the time counts as in use. It comes after a call of
// [Engine.Low] for each class.
func (e *Engine) Peak() int64 {
	d := &e.demand
	if !d.follows() {
		return 0
	}
	return max(d.seen.Swap(0), d.made.Load()-d.low.Swap(0))
}

// Follow sets the most that was in use at one time within the last timeout.
func (e *Engine) Follow(peak int64) {
	d := &e.demand
	if !d.follows() {
		return
	}
	d.share.of.refresh()
	if e.mu.TryLock() {
		idle := e.idleLocked()
		for made := d.made.Load(); made < idle && !d.made.CompareAndSwap(made, idle); made = d.made.Load() {
		}
		e.mu.Unlock()
	}
	d.peak.Store(d.base)
	e.raise(peak)
	d.next.Store(d.made.Load() + d.step)
}

// Beyond returns how many of the reserved bytes exceed the bound of a pool that had no burst.
func (e *Engine) Beyond() int64 {
	if !e.demand.follows() {
		return 0
	}
	return e.demand.beyond(e.Reserved())
}

// reserveBeyond grants places for up to want blocks beyond the bound, and returns for how many.
func (e *Engine) reserveBeyond(want, size int64) int64 {
	d := &e.demand
	peak := d.peak.Load()
	if peak <= d.base || d.made.Load() > peak {
		return 0
	}
	most := peak + d.base/2 - (d.base - e.bounds.limit()) // base/2 may be empty places: see array.rounds
	for {
		v := e.bounds.reserved.Load()
		n := min(want, max(0, most-v)/size)
		if n <= 0 {
			return 0
		}
		more := (d.beyond(v+n*size) - d.beyond(v)) * d.unit
		if !d.share.take(more) {
			if want = n / 2; want == 0 {
				return 0
			}
			continue
		}
		if e.bounds.reserved.CompareAndSwap(v, v+n*size) {
			return n
		}
		d.share.give(more)
	}
}

// An Allowance is what several engines may have beyond their bounds together.
type Allowance struct {
	limit func() int64      // asked now and then
	most  atomics.Heuristic // what it has returned last
	taken atomics.Int64     // bytes
}

// NewAllowance returns an Allowance of as many bytes as limit returns. Engines ask it when blocks
// are made, and at each step of decay; it must not call them.
func NewAllowance(limit func() int64) *Allowance { return &Allowance{limit: limit} }

func (a *Allowance) refresh() { a.most.Store(a.limit()) }

// Taken returns the bytes that engines have beyond their bounds.
func (a *Allowance) Taken() int64 { return a.taken.Load() }

// A share is what one engine has of an Allowance. It outlives the engine.
type share struct {
	of    *Allowance
	taken atomics.Heuristic // nobody decides by it while the engine lives
}

func (s *share) take(bytes int64) bool {
	if bytes > 0 && grant(&s.of.taken, 1, bytes, s.of.most.Load()) == 0 {
		return false
	}
	s.taken.Add(bytes)
	return true
}

func (s *share) give(bytes int64) {
	if bytes > 0 {
		s.taken.Add(-bytes)
		s.of.taken.Add(-bytes)
	}
}

// giveAll is for an engine that was collected with what it had.
func (s *share) giveAll() { s.give(s.taken.Load()) }
