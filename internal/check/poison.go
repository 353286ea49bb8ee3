package check

import (
	"bytes"
	"slices"

	"github.com/dewpond/dewpond/misuse"
)

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
		_, is, _ := r.broken(block)
		return is == nil
	}
	return Intact(block)
}

// broken returns the first watched part of a sealed block that has changed: its offset, what it
// is and what it was; or nil. The shard is locked.
func (r *record) broken(block []byte) (offset int, is, was []byte) {
	seal := r.seal
	for offset, is = range r.checker.Layout.watched(block) {
		if was, seal = seal[:len(is)], seal[len(is):]; !bytes.Equal(is, was) {
			return offset, is, was
		}
	}
	return 0, nil, nil
}

// shown is how many of the bytes that were written a Violation shows.
const shown = 32

// written returns the violation of an idle block that is not intact. Its shard is locked.
func (r *record) written(block []byte, offence Stack) *misuse.Violation {
	v := r.violation(misuse.WriteAfterPut, offence)
	if !r.sealed {
		changed(v, block, 0, func(int) byte { return poisonByte })
		return v
	}
	offset, is, was := r.broken(block)
	changed(v, is, 0, func(i int) byte { return was[i] })
	v.Offset += offset
	return v
}

// WrittenBeyond reports a watched block in which something behind b is not zero. It clears that.
func (c *Checker) WrittenBeyond(at uintptr, b []byte) {
	block := b[:cap(b)]
	if !slices.ContainsFunc(block[len(b):], func(c byte) bool { return c != 0 }) {
		return
	}
	offence := exactly()
	s := c.shard(at)
	s.mu.Lock()
	r := s.at[at]
	if r == nil || r.state != out { // Put says what that is
		s.mu.Unlock()
		return
	}
	v := r.violation(misuse.WriteBeyond, offence)
	s.mu.Unlock()
	changed(v, block, len(b), func(int) byte { return 0 })
	clear(block[len(b):])
	c.report(*v)
}

// changed says what is not as it was in a block, from an offset on.
func changed(v *misuse.Violation, block []byte, from int, was func(i int) byte) {
	first, last := from, len(block)-1
	for first < last && block[first] == was(first) {
		first++
	}
	for first < last && block[last] == was(last) {
		last--
	}
	v.Offset, v.Written = first, last+1-first
	for i := first; i <= min(last, first+shown-1); i++ {
		v.Old, v.New = append(v.Old, was(i)), append(v.New, block[i])
	}
}
