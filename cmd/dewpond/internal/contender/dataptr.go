package contender

// This file encapsulates usage of unsafe. A pool that keeps the pointer to a block's data, and
// knows the size, avoids the allocation of boxing a slice header.

import "unsafe"

// dataOf returns the address of a block's first byte.
func dataOf(b []byte) *byte { return unsafe.SliceData(b) }

// blockAt returns the block of that size at p, which dataOf returned for it.
func blockAt(p *byte, size int) []byte { return unsafe.Slice(p, size) }
