package magazine

import "github.com/dewpond/dewpond/internal/atomics"

// A tier is the second tier of an engine: the blocks for which the bounds have no room. They belong to
// the garbage collector, as what is in a sync.Pool does: it frees them within two GC cycles, and a
// Pop that finds no idle block takes one of them until then. So the bounds limit what the engine
// retains, and a burst beyond them allocates no more than with a sync.Pool.
//
// The runtime knows the caches for two GC cycles longer than anybody else does. They are memory of
// their own, so that they do not keep the engine alive, and they are made at the first refusal.
type tier struct {
	open  func() bool                      // whether blocks may go there and come from there now; nil: there is no second tier
	class atomics.Pointer[[]atomics.Cache] // nil until the first Spill, and again after LeaveTier and Close
	aging bool                             // decay calls Low as time passes
	vain  atomics.Heuristic                // how often GiveWay has found nothing
	moves uint64                           // what had come and gone at the last InUse; guarded by Engine.mu
}

// Spill gives a block for which there is no room to the second tier, and reports whether it did.
// It takes no more blocks of a class than were made for callers, or recovered by them: a block of a size that
// comes back and that no Get asks for would only raise the live heap, and with it the goal of each GC cycle.
// Otherwise the caller frees the block.
func (e *Engine) Spill(class uint8, block Block) bool {
	t := &e.tier
	if t.open == nil || e.Closed() || !t.open() {
		return false
	}
	d := e.depots.At(class)
	if d.credit.Add(-1) < 0 {
		d.credit.Add(1)
		return false
	}
	caches := t.class.Load()
	if caches == nil {
		made := make([]atomics.Cache, len(e.sizes))
		if caches = &made; !t.class.CompareAndSwap(nil, caches) {
			if caches = t.class.Load(); caches == nil {
				return false // another goroutine's was made, and left to the collector
			}
		}
	}
	d.spilled.Add(1)
	(*caches)[class].Put(block)
	if e.Closed() { // perhaps before class was set
		t.detach()
	}
	return true
}

// Wanted says that n blocks that came are of a class that callers ask for: Spill takes as many more.
func (e *Engine) Wanted(class uint8, n int) {
	if e.tier.open != nil {
		e.depots.At(class).credit.Add(int64(n))
	}
}

// recover returns a block of the second tier, or nil.
func (e *Engine) recover(class uint8) Block {
	if e.tier.open == nil {
		return nil
	}
	caches := e.tier.class.Load()
	if caches == nil || !e.tier.open() {
		return nil
	}
	block, _ := (*caches)[class].Get().(Block)
	if block != nil {
		d := e.depots.At(class)
		d.recovered.Add(1)
		d.credit.Add(1)
		e.Came(class, 1)
	}
	return block
}

// InUse reports whether there is a second tier, and a block has come or gone since the last call.
func (e *Engine) InUse() bool { return e.tier.open != nil && e.tier.open() && e.moved() }

// moved reports whether a block has come or gone since its last call.
func (e *Engine) moved() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.fold(e.array())
	var moves uint64
	for class := range e.depots.Made() {
		c := e.classCounts(class)
		moves += c.Hits + c.Puts
	}
	before := e.tier.moves
	e.tier.moves = moves
	return moves != before
}

// LeaveTier leaves what is in the second tier to the garbage collector alone. Close does so too.
func (e *Engine) LeaveTier() { e.tier.detach() }

func (t *tier) detach() {
	if t.open != nil {
		t.class.Store(nil)
	}
}

// Spilled returns at most how many bytes of memory the blocks in the second tier have: it counts those that a GC
// cycle has freed as well.
func (e *Engine) Spilled() (bytes int64) {
	depots := e.depots.Made()
	for class := range depots {
		d := &depots[class]
		bytes += max(0, int64(d.spilled.Load()-d.recovered.Load())) * int64(d.size) * e.demand.unit
	}
	return bytes
}

const (
	// mostMoved and mostMovedBytes bound what one GiveWay moves, because a Put waits for it.
	mostMoved      = 1024
	mostMovedBytes = 128 << 10
	// mostLarger is how many times as large a block may be that gives way although it may be needed.
	mostLarger = 64
	// lowEvery is after how many GiveWays in vain an engine without decay looks anew what is needed.
	lowEvery = 256
)

// GiveWay makes room for a block of a class where the bound on bytes has none: it moves idle blocks of the
// class that needs them least to the second tier. It returns that class, and whether there is room now.
//
// That is the class of which most bytes have been idle since the last call of [Engine.Low], or, if
// all blocks were in use since, the one that has most idle, and then twice as many bytes as class.
func (e *Engine) GiveWay(class uint8) (other uint8, moved bool) {
	if e.tier.open == nil {
		return 0, false
	}
	d := e.depots.At(class)
	own, most := d.reserved.Load(), e.bounds.maxPerClass
	if e.bounds.reserved.Load() == own*int64(d.size) || most > 0 && own >= most {
		return 0, false // no other class has anything, or it is not for want of bytes
	}
	depots := e.depots.Made()
	from := leastNeeded(depots, class)
	if from < 0 {
		if e.tier.vain.Add(1)%lowEvery == 0 && !e.tier.aging {
			for c := range depots {
				e.Low(uint8(c))
			}
		}
		return 0, false
	}
	size := int64(depots[from].size)
	wanted := (int64(d.size) + size - 1) / size
	n := max(wanted, min(mostMovedBytes, e.bounds.maxBytes/16)/size)
	return uint8(from), e.Shed(uint8(from), int(min(n, mostMoved)), func(c uint8, block Block) { e.Spill(c, block) }) >= int(wanted)
}

// leastNeeded returns the class that GiveWay takes from, or -1.
func leastNeeded(depots []depot, class uint8) (from int) {
	d := &depots[class]
	from = -1
	least, idle := int64(0), 2*max(d.reserved.Load(), 1)*int64(d.size)
	for c := range depots {
		of := &depots[c]
		blocks, size := of.blocks.Load(), int64(of.size)
		wanted := (int64(d.size) + size - 1) / size
		if blocks < wanted || wanted > mostMoved || c == int(class) {
			continue // it cannot make room
		}
		low := max(0, of.low.Load()) * size
		if low > least || least == 0 && blocks*size >= idle && size <= mostLarger*int64(d.size) {
			from, least, idle = c, low, max(idle, blocks*size)
		}
	}
	return from
}
