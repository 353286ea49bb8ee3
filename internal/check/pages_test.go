package check

import (
	"math/rand/v2"
	"testing"

	"github.com/dewpond/dewpond/misuse"
)

// What overlaps a slice is found among few blocks, however many are watched.
func TestPagesLookAtFew(t *testing.T) {
	c := New(false, func(misuse.Violation) {})
	const blocks, size = 20_000, 64
	var all [][]byte
	for range blocks {
		b := make([]byte, size)
		c.Get(at(b), b, true)
		all = append(all, b)
	}
	mine := all[blocks/2]
	if n := len(c.near(at(mine))); n == 0 || n > pageSize/size {
		t.Errorf("for one address %d blocks of %d are looked at", n, blocks)
	}
	other := make([]byte, size)
	if !c.Overlaps(at(mine)+10, 1) || !c.Overlaps(at(mine)-1, 2) || c.Overlaps(at(other), size) {
		t.Error("a part of a watched block is not found, or a slice that is none is")
	}
	if v := c.Around(at(mine) + 10); v == nil || v.Offset != 10 || v.Size != size {
		t.Errorf("around the tenth byte: %+v", v)
	}
	for _, b := range all {
		if c.Put(at(b), size) != Accepted {
			t.Fatal("a block is not taken back")
		}
		c.Forget(at(b), b) // which finds that it is not poisoned
	}
	if len(c.pages.starts) != 0 {
		t.Errorf("%d pages have blocks, and none is watched", len(c.pages.starts))
	}
}

// The pages say what a walk over all blocks would.
func TestPagesAreExact(t *testing.T) {
	var p pages
	sizes := map[uintptr]int{}
	for range 3000 {
		at, size := uintptr(1<<20+16*rand.IntN(4000)), 1+rand.IntN(3*pageSize)
		if old, ok := sizes[at]; ok {
			p.remove(at, old)
			delete(sizes, at)
		} else {
			p.add(at, size)
			sizes[at] = size
		}
		from, n := uintptr(1<<20+rand.IntN(5*pageSize)), 1+rand.IntN(2*pageSize)
		found := map[uintptr]bool{}
		for _, start := range p.near(from, n) {
			found[start] = true
		}
		for start, size := range sizes {
			if start < from+uintptr(n) && from < start+uintptr(size) && !found[start] {
				t.Fatalf("the block [%#x, +%d) has bytes of [%#x, +%d) and is not found", start, size, from, n)
			}
		}
	}
}
