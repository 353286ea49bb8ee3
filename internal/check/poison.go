package check

import (
	"bytes"
	"hash/maphash"
)

// poison is the byte that idle blocks are filled with. It is unlikely as text, length
// or pointer, and odd, so that a counter that is incremented shows.
const poison = 0xDB

var page = bytes.Repeat([]byte{poison}, 4096)

// Poison fills a block.
func Poison(b []byte) {
	for len(b) > 0 {
		b = b[copy(b, page):]
	}
}

// Intact reports whether a block is as Poison left it.
func Intact(b []byte) bool {
	for len(b) > len(page) {
		if !bytes.Equal(b[:len(page)], page) {
			return false
		}
		b = b[len(page):]
	}
	return bytes.Equal(b, page[:len(b)])
}

var seed = maphash.MakeSeed()

// sum returns a checksum that is never 0.
func sum(object []byte) uint64 { return maphash.Bytes(seed, object) | 1 }

// intact reports whether an idle block is as it was put back. Its shard is locked.
func (r *record) intact(block []byte) bool {
	if r.sum != 0 {
		return sum(block) == r.sum
	}
	return Intact(block)
}
