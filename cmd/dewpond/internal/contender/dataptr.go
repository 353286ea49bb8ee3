package contender

// This file encapsulates usage of unsafe: a pool that keeps the pointer to a
// block's data, and knows its size, spares the allocation that boxing a slice
// header costs.

import "unsafe"

// dataOf is the address of a block's first byte.
func dataOf(b []byte) *byte { return unsafe.SliceData(b) }

// blockAt is the block of that size at p, which dataOf once returned for it.
func blockAt(p *byte, size int) []byte { return unsafe.Slice(p, size) }
