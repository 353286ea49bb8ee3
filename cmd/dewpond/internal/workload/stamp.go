package workload

import (
	"encoding/binary"
	"fmt"
)

// ink is what blocks are written with, over their whole length. All goroutines
// read the same ink, so it stays in the cache and adds little to each block.
type ink []byte

func newInk(n int) ink {
	i := make(ink, n)
	for k := range i {
		i[k] = byte(k) | 1
	}
	return i
}

// write fills a block and stamps both ends with its owner's mark.
func (i ink) write(b []byte, mark uint64) {
	copy(b, i)
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

// verify reports a block whose mark somebody else has overwritten.
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
