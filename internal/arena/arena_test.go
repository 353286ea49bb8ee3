package arena

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

func TestAllocIsExactAndZero(t *testing.T) {
	onBoth(t, func(t *testing.T, c Config) {
		a := newTest(t, c)
		for _, size := range []int{64, 80, 1152, 4608, 8704, 33280, 66048, 1 << 20, MaxSize} {
			if size == MaxSize && raceDetector {
				continue // it would take seconds
			}
			b := mustAlloc(t, a, size)
			if len(b) != size || cap(b) != size || uintptr(unsafe.Pointer(&b[0]))%Multiple != 0 {
				t.Fatalf("size %d: len %d, cap %d at %p", size, len(b), cap(b), &b[0])
			}
			for range 2 { // the second time the memory has been used
				if i := notZero(b); i >= 0 {
					t.Fatalf("size %d: byte %d is %d", size, i, b[i])
				}
				for i := range b {
					b[i] = 0xAA
				}
				a.Free(b)
				c := mustAlloc(t, a, size)
				if &c[0] != &b[0] {
					t.Fatalf("size %d: the only free block is not used again", size)
				}
			}
			a.Free(b)
		}
		closeTest(t, a)
	})
}

func TestAllocRefusesSizes(t *testing.T) {
	a := newTest(t, Config{OnHeap: true})
	for _, size := range []int{-16, 0, 1, 48, 100, MaxSize + 16} {
		if b, err := a.Alloc(size); err == nil || b != nil || !strings.Contains(err.Error(), fmt.Sprint(size)) {
			t.Errorf("Alloc(%d): %v", size, err)
		}
	}
}

func TestNewRefusesReserve(t *testing.T) {
	for _, reserve := range []int64{-1, 1<<63 - 1} {
		if _, err := New(Config{Reserve: reserve}); err == nil || !strings.Contains(err.Error(), fmt.Sprint(reserve)) {
			t.Errorf("Reserve %d: %v", reserve, err)
		}
	}
}

// TestOwnership checks what Owns, Return and Free do with slices that are no block, or
// no longer one.
func TestOwnership(t *testing.T) {
	onBoth(t, func(t *testing.T, c Config) {
		a, other := newTest(t, c), newTest(t, c)
		b := mustAlloc(t, a, 8192)
		small := mustAlloc(t, a, 80)
		large := mustAlloc(t, a, 1<<20)
		foreign := mustAlloc(t, other, 8192)
		for _, x := range [][]byte{b, small, large} {
			a.Issue(x)
		}
		other.Issue(foreign)
		over := []byte(nil) // what is left over at the end of a span, and on into the next
		if !c.OnHeap {      // on the heap it would be two allocations
			over = unsafe.Slice((*byte)(unsafe.Add(unsafe.Pointer(&small[0]), granule/80*80)), 80)
		}
		for _, tt := range []struct {
			name  string
			b     []byte
			owned bool
		}{
			{"a block", b, true},
			{"a shorter slice of it", b[:0], true},
			{"a small block", small, true},
			{"a large block", large, true},
			{"nil", nil, false},
			{"empty", []byte{}, false},
			{"from the Go heap", make([]byte, 8192), false},
			{"another arena's", foreign, false},
			{"interior", b[4096:], false},
			{"interior by a byte", b[1:], false},
			{"interior, of another class's cap", large[8192 : 2*8192 : 2*8192], false},
			{"a cap cut down", b[:4096:4096], false},
			{"a cap cut down to another size of the arena", b[:80:80], false},
			{"past the end", b[8192:], false},
			{"a place where no block was handed out", unsafe.Slice(&b[0], 16384)[8192:], false},
			{"a block's size, 16 bytes on", unsafe.Slice(&b[16], 8192), false},
			{"a block's size, a byte on", unsafe.Slice(&b[1], 8192), false},
			{"a block's size, 64 bytes on", unsafe.Slice(&b[64], 8192), false},
			{"a cap of two blocks", unsafe.Slice(&b[0], 16384), false},
			{"what lies over at the end of a span", over, false},
		} {
			if got := a.Owns(tt.b); got != tt.owned {
				t.Errorf("%s: Owns = %v", tt.name, got)
			}
			owned, accepted := a.Return(tt.b)
			if accepted != tt.owned || accepted && !owned {
				t.Errorf("%s: Return = %v, %v", tt.name, owned, accepted)
			}
			if tt.owned {
				a.Issue(tt.b)
			}
			if cap(tt.b) >= MinSize && cap(tt.b)%Multiple == 0 {
				if accepted := returnDirectly(a, tt.b); accepted != (tt.owned && a.space.table.exists()) {
					t.Errorf("%s: the pool accepts it: %v", tt.name, accepted)
				}
			}
			if tt.owned {
				a.Issue(tt.b)
				continue
			}
			refused := a.Usage().Refused
			if a.Free(tt.b); a.Usage().Refused != refused+1 {
				t.Errorf("%s: Free did not refuse it", tt.name)
			}
		}
		a.Free(b) // it is out
		if u := a.Usage(); u.Refused != 17 || u.Blocks != 3 || u.Bytes != 8192+80+1<<20 {
			t.Errorf("%+v", u)
		}
	})
}

// TestStates checks the states of a block, and what each call does in each of them.
func TestStates(t *testing.T) {
	onBoth(t, func(t *testing.T, c Config) {
		a := newTest(t, c)
		b, keep := mustAlloc(t, a, 128), mustAlloc(t, a, 128)
		expect := func(when string, owns, owned, accepted bool) {
			t.Helper()
			if got := a.Owns(b); got != owns {
				t.Errorf("%s: Owns = %v", when, got)
			}
			if o, acc := a.Return(b); o != owned || acc != accepted {
				t.Errorf("%s: Return = %v, %v; want %v, %v", when, o, acc, owned, accepted)
			}
			if returnDirectly(a, b) {
				t.Errorf("%s: the pool accepts it after Return", when)
			}
		}
		expect("fresh", true, true, false)
		a.Issue(b)
		expect("issued", true, true, true)
		expect("returned", true, true, false)
		a.Issue(b)
		expect("issued again", true, true, true)
		a.Free(b)
		expect("free", false, true, false)
		a.Free(b)
		if u := a.Usage(); u.Refused != 1 || u.Blocks != 1 {
			t.Errorf("freed twice: %+v", u)
		}
		a.Free(keep)
		if _, err := a.Decommit(); err != nil {
			t.Fatal(err)
		}
		expect("its span let go", false, false, false)
		a.Issue(b) // nothing happens
		again := mustAlloc(t, a, 256)
		a.Issue(again)
		expect("its address another size's", false, false, false)
		a.Return(again)
		if c.OnHeap == false && &again[0] != &b[0] {
			t.Error("the address is not used again")
		}
		a.Free(again)
	})
}

func TestFullArenaGivesWhatOtherSizesDoNotUse(t *testing.T) {
	onBoth(t, func(t *testing.T, c Config) {
		c.Reserve = 4*granule - 5 // rounded up
		a := newTest(t, c)
		var blocks [][]byte
		for range 32 {
			blocks = append(blocks, mustAlloc(t, a, 8192))
		}
		if _, err := a.Alloc(8192); !errors.Is(err, ErrFull) || !strings.Contains(err.Error(), "262144") {
			t.Fatalf("the 33rd block: %v", err)
		}
		for _, b := range blocks[8:24] { // the two spans in the middle
			a.Free(b)
		}
		if _, err := a.Alloc(3 * granule); !errors.Is(err, ErrFull) {
			t.Fatalf("three granules of two: %v", err)
		}
		b := mustAlloc(t, a, 2*granule)
		if i := notZero(b); i >= 0 {
			t.Fatalf("byte %d is %d", i, b[i])
		}
		if u := a.Usage(); u.Spans != 3 || u.Spanned != 4*granule || u.Decommitted != 2*granule {
			t.Errorf("%+v", u)
		}
	})
}

func TestCloseWaitsForTheLastBlock(t *testing.T) {
	onBoth(t, func(t *testing.T, c Config) {
		a := newTest(t, c)
		b, d := mustAlloc(t, a, 8192), mustAlloc(t, a, 80)
		b[0] = 1
		var in *InUseError
		if err := a.Close(); !errors.As(err, &in) || in.Blocks != 2 || in.Bytes != 8272 || !strings.Contains(err.Error(), "2 blocks") {
			t.Fatalf("Close with two out: %v", err)
		}
		if _, err := a.Alloc(80); !errors.Is(err, ErrClosed) {
			t.Errorf("Alloc after Close: %v", err)
		}
		a.Free(d)
		if err := a.Close(); !errors.As(err, &in) || in.Blocks != 1 || !strings.Contains(err.Error(), "one block") {
			t.Errorf("Close with one out: %v", err)
		}
		b[0]++ // still there
		if u := a.Usage(); u.Mapped == c.OnHeap || u.Mapped && u.Reserved != DefaultReserve {
			t.Errorf("%+v", u)
		}
		a.Free(b)
		closeTest(t, a)
		if owned, _ := a.Return(b); owned {
			t.Error("a closed arena owns a block")
		}
		a.Free(b)
		if _, err := a.Decommit(); err != nil || a.Usage().Refused != 1 {
			t.Errorf("after Close: Decommit %v, %+v", err, a.Usage())
		}
	})
}

func TestAbandon(t *testing.T) {
	onBoth(t, func(t *testing.T, c Config) {
		a := newTest(t, c)
		mustAlloc(t, a, 8192) // idle in a pool that is unreachable
		for range 9 {
			mustAlloc(t, a, 7168) // larger than a span
		}
		a.Abandon()
		if u := a.Usage(); u.Reserved != 0 || u.Spans != 0 || u.Blocks != 0 {
			t.Errorf("nothing out: %+v", u)
		}

		a = newTest(t, c)
		used := mustAlloc(t, a, 8192)
		a.Issue(used)
		used[0] = 1
		mustAlloc(t, a, 8192) // in the same span: it stays
		mustAlloc(t, a, 1<<20)
		a.Abandon()
		if u := a.Usage(); u.Spans != 1 || u.Blocks != 2 || u.Decommitted != 1<<20 || used[0] != 1 {
			t.Errorf("one out: %+v", u)
		}
		used[0]++
	})
}
