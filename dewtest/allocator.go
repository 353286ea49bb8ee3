package dewtest

import (
	"bytes"
	"cmp"
	"reflect"
	"slices"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
)

// TestAllocator tests whether a [dewpond.Allocator] keeps the promises of its documentation, and
// fails the test for each that it breaks: the length, cap and alignment of what Alloc
// returns, that all of it is zero, also where Free has taken back memory that was written
// to, that no two blocks overlap, what Owns reports, and all of that for several
// goroutines at once. Run it with the race detector too.
//
// The sizes are the classes of the pools that the Allocator is for. Without sizes they are
// [dewpond.DefaultClasses]. The Allocator must have memory for 8 blocks of each size, which
// is 64 MB for the default classes. TestAllocator gives every block back.
func TestAllocator(tb testing.TB, s dewpond.Allocator, sizes ...int) {
	tb.Helper()
	if len(sizes) == 0 {
		sizes = dewpond.DefaultClasses()
	}
	t := &sourceTest{tb: tb, source: s, reported: map[string]bool{}}
	// The second round gets the memory of the first, if the Allocator uses any twice.
	for range 2 {
		blocks := t.allocate(sizes, 1)
		t.owns(blocks)
		t.freeAll(blocks)
	}
	if len(t.reported) > 0 {
		return
	}
	const goroutines = 4
	all := make([][]sourceBlock, goroutines)
	var wg go125.WaitGroup
	for g := range goroutines {
		wg.Go(func() {
			t.freeAll(t.allocate(sizes, byte(1+g)))
			all[g] = t.allocate(sizes, byte(1+g))
		})
	}
	wg.Wait()
	t.overlap(slices.Concat(all...))
	for g := range goroutines {
		wg.Go(func() { t.freeAll(all[g]) })
	}
	wg.Wait()
}

// blocksOfSize is how many blocks of each size a goroutine has at once.
const blocksOfSize = 2

type sourceTest struct {
	tb     testing.TB
	source dewpond.Allocator

	mu       sync.Mutex      // held while tb is used
	reported map[string]bool // each broken promise is reported once
}

// A sourceBlock is a block of the Allocator, every byte of which is stamp.
type sourceBlock struct {
	b     []byte
	stamp byte
}

func (t *sourceTest) errorf(promise, format string, args ...any) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.tb.Helper()
	if !t.reported[promise] {
		t.reported[promise] = true
		t.tb.Errorf("dewtest: "+format, args...)
	}
}

// allocate allocates blocks, looks at each and writes to all of it. It leaves out those
// that cannot be used.
func (t *sourceTest) allocate(sizes []int, stamp byte) (blocks []sourceBlock) {
	for range blocksOfSize {
		for _, size := range sizes {
			b, err := t.source.Alloc(size)
			switch at := address(b); {
			case err != nil:
				t.errorf("Alloc", "Alloc(%d): %v", size, err)
				continue
			case len(b) != size || cap(b) != size:
				t.errorf("the size of a block", "Alloc(%d) returned %d bytes with cap %d", size, len(b), cap(b))
				continue
			case at%16 != 0:
				t.errorf("the alignment of a block", "Alloc(%d) returned a block at %#x, which is no multiple of 16", size, at)
			}
			if i := slices.IndexFunc(b, func(c byte) bool { return c != 0 }); i >= 0 {
				t.errorf("a block is zero", "Alloc(%d) returned a block whose byte %d is %#x", size, i, b[i])
			}
			for i := range b {
				b[i] = stamp
			}
			blocks = append(blocks, sourceBlock{b, stamp})
		}
	}
	return blocks
}

// freeAll frees blocks that nobody else may have written to meanwhile.
func (t *sourceTest) freeAll(blocks []sourceBlock) {
	for _, block := range blocks {
		if bytes.Count(block.b, []byte{block.stamp}) != len(block.b) {
			t.errorf("a block has one owner", "a block of %d bytes has changed while it was out", len(block.b))
		}
		t.source.Free(block.b)
	}
}

// overlap looks for blocks that share bytes.
func (t *sourceTest) overlap(blocks []sourceBlock) {
	slices.SortFunc(blocks, func(a, b sourceBlock) int { return cmp.Compare(address(a.b), address(b.b)) })
	for i := 1; i < len(blocks); i++ {
		if a, b := blocks[i-1].b, blocks[i].b; address(b)-address(a) < uintptr(len(a)) {
			t.errorf("a block has one owner", "a block of %d bytes at %#x and one of %d at %#x overlap", len(a), address(a), len(b), address(b))
		}
	}
}

// owns asks the Allocator about its blocks, and about slices that only look like some.
func (t *sourceTest) owns(blocks []sourceBlock) {
	const promise = "Owns"
	t.overlap(blocks)
	for _, block := range blocks {
		b, size := block.b, len(block.b)
		for _, own := range [][]byte{b, b[:size/2], b[:0]} {
			if !t.source.Owns(own) {
				t.errorf(promise, "Owns of %d bytes of a block of %d is false", len(own), size)
			}
		}
		for what, other := range map[string][]byte{
			"a slice made elsewhere":            make([]byte, size),
			"a part that begins inside a block": b[16:],
			"a slice of a block with less cap":  b[: size-16 : size-16],
		} {
			if t.source.Owns(other) {
				t.errorf(promise, "Owns of %s is true, for a block of %d bytes", what, size)
			}
		}
	}
}

// address returns where a slice begins.
func address(b []byte) uintptr { return reflect.ValueOf(b).Pointer() }
