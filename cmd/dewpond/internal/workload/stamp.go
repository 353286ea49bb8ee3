package workload

import (
	"encoding/binary"
	"fmt"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
)

// A pattern is what blocks are filled with. All goroutines read the same pattern, so it stays in
// the cache and adds little to the cost of each block.
type pattern []byte

func newPattern(n int) pattern {
	p := make(pattern, n)
	for i := range p {
		p[i] = byte(i) | 1
	}
	return p
}

// write copies the pattern to the beginning of a block, all of it if the pattern is as long, and stamps
// both ends with its owner's mark.
func (p pattern) write(b []byte, mark uint64) {
	copy(b, p)
	stamp(b, mark)
}

// stamp marks both ends of a block.
func stamp(b []byte, mark uint64) {
	if len(b) < 8 {
		b[0] = byte(mark)
		return
	}
	binary.LittleEndian.PutUint64(b, mark)
	binary.LittleEndian.PutUint64(b[len(b)-8:], mark)
}

// verify returns an error if another owner has overwritten the mark of a block.
func verify(b []byte, mark uint64) error {
	if len(b) < 8 {
		if b[0] == byte(mark) {
			return nil
		}
	} else if binary.LittleEndian.Uint64(b[len(b)-8:]) == mark && (len(b) < 16 || binary.LittleEndian.Uint64(b) == mark) {
		return nil
	}
	return fmt.Errorf("a block of %d bytes had two owners: its stamp was overwritten while it was out", len(b))
}

// A Marked block carries its owner's mark at both ends.
type Marked struct {
	contender.Block
	Mark uint64
}

// Write marks the block and touches each page, so that the time to make memory resident is
// included.
func (m Marked) Write() {
	for at := page; at < len(m.Bytes); at += page {
		m.Bytes[at] = 1
	}
	stamp(m.Bytes, m.Mark)
}

// Verify returns an error if another owner has overwritten the mark of the block.
func (m Marked) Verify() error { return verify(m.Bytes, m.Mark) }
