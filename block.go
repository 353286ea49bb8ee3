package dewpond

import (
	"runtime"
	"unsafe"

	"github.com/dewpond/dewpond/internal/late"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/memory"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// This file turns blocks into slices and back: see also Get and Put, which do so on
// their own.

// reuse returns an idle block of the class, or nil where it finds none.
func (p *BytePool) reuse(class uint8) []byte {
	return p.reused(class, p.engine.Pop(class))
}

// reused makes a block that was idle the caller's, if there is one.
func (p *BytePool) reused(class uint8, block unsafe.Pointer) []byte {
	b := p.whole(class, block)
	if b != nil {
		p.issue(b)
	}
	return b
}

// whole turns a block of the engine into a slice, and nil into nil.
func (p *BytePool) whole(class uint8, block unsafe.Pointer) []byte {
	if block == nil {
		return nil
	}
	return unsafe.Slice((*byte)(block), p.classes.Size(class))
}

// free returns a function that lets go of a block that the engine no longer holds. Whoever
// makes it be called calls p.gate.ServeInReach afterwards, and then l.End.
func (p *BytePool) free(l *late.List) func(class uint8, block unsafe.Pointer) {
	return func(class uint8, block unsafe.Pointer) { p.gate.Drop(class, block, l) }
}

// dataOf and sliceAt turn a block into the pointer that a handle has and back.
func dataOf(b []byte) *byte { return unsafe.SliceData(b) }

// blockOf is dataOf as the engine has it.
func blockOf(b []byte) magazine.Block { return unsafe.Pointer(unsafe.SliceData(b)) }

// addressOf is dataOf as a number, which keeps nothing alive.
func addressOf(b []byte) uintptr { return addressAt(unsafe.SliceData(b)) }

func addressAt(data *byte) uintptr { return uintptr(unsafe.Pointer(data)) }

// issue is state.Issue, as one plain store where that is enough. memory.OrderedStores
// says when and why.
func issue(state *memory.State, whenOut uint32) {
	var _ [4]byte = [unsafe.Sizeof(*state)]byte{}
	if memory.OrderedStores {
		*(*uint32)(unsafe.Pointer(state)) = whenOut
		return
	}
	state.Issue(whenOut)
}

func (p *BytePool) sliceAt(data *byte, n uint) []byte {
	if n <= sizeclass.MaxSmall {
		if small := p.classes.Small(n); small != 0 {
			return (*[1 << 24]byte)(unsafe.Pointer(data))[:n:small.Size()]
		}
	}
	size := int(n)
	if class, ok := p.classes.Class(size); ok {
		size = p.classes.Size(class)
	}
	return unsafe.Slice(data, size)[:n]
}

// accepts asks the Source, or on the heap the Budget, whether a slice is a block that a
// caller may give back, and counts it where it is not. From then on a Ledger has the
// block as idle.
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

// issue makes a block that was idle ready for a caller, who is the one that calls it:
// checked mode notes his stack.
func (p *BytePool) issue(b []byte) {
	p.watch(b)
	if p.onGet&clearBlock != 0 {
		clear(b)
	}
	p.note(b)
}

// note tells the Ledger, if there is one, that a caller gets a block.
func (p *BytePool) note(b []byte) {
	if state := p.blocks.Find(addressOf(b), uint(cap(b))); state != nil {
		issue(state, memory.WhenOut(addressOf(b), uint(cap(b))))
	} else if p.ledger != nil {
		p.ledger.Issue(b)
	}
	// Until the Ledger has the block as out, a pool that is collected would take it
	// along: see offheap.NewBytePool.
	runtime.KeepAlive(p)
}

// overhead returns the bytes that the pool has beside its blocks.
func (p *BytePool) overhead() int64 {
	return p.engine.Overhead() + p.handles.Overhead() + int64(unsafe.Sizeof(*p))
}
