package check

import "bytes"

// poisonByte is the byte that idle blocks are filled with. It is unlikely as text, length
// or pointer, and odd, so that a counter that is incremented shows.
const poisonByte = 0xDB

var page = bytes.Repeat([]byte{poisonByte}, 4096)

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

// intact reports whether an idle block is as it was put back. Its shard is locked.
func (r *record) intact(block []byte) bool {
	if r.sealed {
		return bytes.Equal(block, r.seal)
	}
	return Intact(block)
}

// shown is how many of the bytes that were written a Violation shows.
const shown = 32

// written returns the violation of an idle block that is not intact. Its shard is locked.
func (r *record) written(block []byte, offence Stack) *Violation {
	was := func(i int) byte {
		if r.sealed {
			return r.seal[i]
		}
		return poisonByte
	}
	first, last := 0, len(block)-1
	for first < last && block[first] == was(first) {
		first++
	}
	for first < last && block[last] == was(last) {
		last--
	}
	v := r.violation(WriteAfterPut, offence)
	v.Offset, v.Written = first, last+1-first
	for i := first; i <= min(last, first+shown-1); i++ {
		v.Old, v.New = append(v.Old, was(i)), append(v.New, block[i])
	}
	return v
}
