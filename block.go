package dewpond

import (
	"unsafe"

	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/memory"
)

// dataOf returns the pointer that a handle has to a block.
func dataOf(b []byte) *byte { return unsafe.SliceData(b) }

// blockOf is dataOf in the type that the engine uses.
func blockOf(b []byte) magazine.Block { return unsafe.Pointer(unsafe.SliceData(b)) }

// addressOf is dataOf as a number, which does not keep the block alive.
func addressOf(b []byte) uintptr { return addressAt(unsafe.SliceData(b)) }

func addressAt(data *byte) uintptr { return uintptr(unsafe.Pointer(data)) }

// within reports whether an address is in a block.
func within(address, block, size uintptr) bool { return address-block < size }

// issue is state.Issue, or one plain store if that is enough: see memory.OrderedStores.
func issue(state *memory.State, whenOut uint32) {
	var _ [4]byte = [unsafe.Sizeof(*state)]byte{}
	if memory.OrderedStores {
		*(*uint32)(unsafe.Pointer(state)) = whenOut
		return
	}
	state.Issue(whenOut)
}
