package dewpond

import (
	"runtime"
	"unsafe"

	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/memory"
)

// This file converts between blocks and slices. Get and Put have the same conversions
// inlined by hand.

// reuse returns an idle block of the class, or nil if it finds none.
func (p *BytePool) reuse(class uint8) []byte {
	return p.reused(class, p.engine.Pop(class))
}

// reused makes an idle block ready for a caller, and turns nil into nil.
func (p *BytePool) reused(class uint8, block unsafe.Pointer) []byte {
	b := p.sliceOf(class, block)
	if b != nil {
		p.issue(b)
	}
	return b
}

// sliceOf turns a block of the engine into a slice, and nil into nil.
func (p *BytePool) sliceOf(class uint8, block unsafe.Pointer) []byte {
	if block == nil {
		return nil
	}
	return unsafe.Slice((*byte)(block), p.classes.Size(class))
}

// free returns a function that lets go of a block that the engine no longer holds. After
// its calls, p.gate.ServeInReach must be called, and then l.End.
func (p *BytePool) free(l *late.List) func(class uint8, block unsafe.Pointer) {
	return func(class uint8, block unsafe.Pointer) { p.gate.Drop(class, block, l) }
}

// dataOf returns the pointer that a handle has to a block.
func dataOf(b []byte) *byte { return unsafe.SliceData(b) }

// blockOf is dataOf in the type that the engine uses.
func blockOf(b []byte) magazine.Block { return unsafe.Pointer(unsafe.SliceData(b)) }

// addressOf is dataOf as a number, which does not keep the block alive.
func addressOf(b []byte) uintptr { return addressAt(unsafe.SliceData(b)) }

func addressAt(data *byte) uintptr { return uintptr(unsafe.Pointer(data)) }

// issue is state.Issue, or one plain store if that is enough: see memory.OrderedStores.
func issue(state *memory.State, whenOut uint32) {
	var _ [4]byte = [unsafe.Sizeof(*state)]byte{}
	if memory.OrderedStores {
		*(*uint32)(unsafe.Pointer(state)) = whenOut
		return
	}
	state.Issue(whenOut)
}

// accepts asks the Source, or on the heap the Budget, whether a slice is a block that a
// caller may give back, and counts the Put as dropped if it is not. If it is, a Ledger
// has the block as idle from then on.
func (p *BytePool) accepts(class uint8, b []byte) bool {
	if p.source == nil {
		if p.gate.Holds(class, addressOf(b)) {
			return true
		}
	} else if p.ledger == nil {
		if p.source.Owns(b) {
			return true
		}
	} else if state := p.blocks.Find(addressOf(b), uint(cap(b))); state != nil && state.Return(memory.WhenOut(addressOf(b), uint(cap(b)))) {
		return true
	} else if owned, accepted := p.ledger.Return(b); accepted {
		return true
	} else if owned {
		p.count.droppedDouble.Add(1)
		return false
	}
	if p.fallback.Remove(dataOf(b), addressOf(b)) {
		p.count.droppedFallback.Add(1)
	} else {
		p.count.droppedForeign.Add(1)
	}
	return false
}

// issue makes an idle block ready for a caller. It must run on the caller's goroutine,
// because checked mode records the stack.
func (p *BytePool) issue(b []byte) {
	p.watch(b)
	if p.onGet&clearBlock != 0 {
		clear(b)
	}
	p.note(b)
}

// note tells the Ledger, if there is one, that a block is out.
func (p *BytePool) note(b []byte) {
	if state := p.blocks.Find(addressOf(b), uint(cap(b))); state != nil {
		issue(state, memory.WhenOut(addressOf(b), uint(cap(b))))
	} else if p.ledger != nil {
		p.ledger.Issue(b)
	}
	// If the pool were collected before the Ledger has the block as out, the block's
	// memory would be freed with the pool: see offheap.NewBytePool.
	runtime.KeepAlive(p)
}

// overhead returns the bytes that the pool has in addition to its blocks.
func (p *BytePool) overhead() int64 {
	return p.engine.Overhead() + p.handles.Overhead() + int64(unsafe.Sizeof(*p))
}
