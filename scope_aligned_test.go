package dewpond_test

import (
	"sync/atomic"
	"testing"

	"github.com/dewpond/dewpond"
)

// An aligned has words that trap or tear where they are not aligned.
type aligned struct {
	n atomic.Int64
	_ float64
}

// Whatever was Put before, ScopeSlice is aligned: Put refuses what a block cannot be.
func TestScopeSliceIsAligned(t *testing.T) {
	notWatched(t, misuses)
	sizes := []int{64, 8 << 10, 16 << 10, 32 << 10, 40 << 10, 1 << 20} // of chunks, and of blocks that a Slice has alone
	p := newPool(t, dewpond.BytePoolOptions{Classes: sizes})
	for round := range 32 {
		offset := round%15 + 1
		for _, size := range sizes {
			array := make([]byte, size+16)
			p.Put(array[offset:][:size:size])
		}
		s := p.Scope()
		for _, n := range []int{1, 4, 100, 500, 1000, 2000, 2500, 60_000} {
			v := dewpond.ScopeSlice[aligned](s, n)
			if at := addressOf(v); at%8 != 0 {
				t.Fatalf("after a Put of slices at odd addresses, Slice of %d begins at %#x", n, at)
			}
			v[0].n.Add(1)
		}
		s.Close()
	}
	if s := p.Stats(); s.DroppedForeign != 32*uint64(len(sizes)) {
		t.Errorf("%d of %d slices at odd addresses were refused", s.DroppedForeign, 32*len(sizes))
	}
}
