package dewpond_test

import (
	"bytes"
	"math"
	"testing"

	"github.com/dewpond/dewpond"
)

func TestGrow(t *testing.T) {
	leavesOut(t, "the block of a Grow that panics")
	p := newPool(t, dewpond.BytePoolOptions{})
	b := p.Get(100)
	copy(b, "hello")
	if same := p.Grow(b[:5], 123); &same[0] != &b[0] || len(same) != 5 {
		t.Error("Grow moved a slice that had room")
	}
	grown := p.Grow(b[:5], 124)
	if string(grown) != "hello" || cap(grown) != 144 {
		t.Errorf("Grow: %q with cap %d, want hello with cap 144", grown, cap(grown))
	}
	if s := p.Stats(); s.IdleBytes != 128 || s.InUseBytes != 144 {
		t.Errorf("IdleBytes %d, InUseBytes %d: the old block should be back", s.IdleBytes, s.InUseBytes)
	}
	if b := p.Grow(nil, 10); len(b) != 0 || cap(b) != 64 {
		t.Errorf("Grow(nil, 10): len %d, cap %d", len(b), cap(b))
	}
	defer func() {
		if recover() == nil {
			t.Error("Grow past the largest int did not panic")
		}
	}()
	p.Grow(grown, math.MaxInt)
}

// Append and AppendString against append, from nil to past the largest class, with x from
// within b as well.
func TestAppend(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Classes: []int{64, 256, 4096}})
	var got, want []byte
	for i := range 400 {
		x := bytes.Repeat([]byte{byte(i)}, i%61)
		if i%7 == 0 && len(got) > 10 {
			x = got[3:10]
		}
		want = append(want, append([]byte(nil), x...)...)
		if i%3 == 0 {
			got = p.AppendString(got, string(x))
		} else {
			got = p.Append(got, x...)
		}
		if !bytes.Equal(got, want) {
			t.Fatalf("after %d Appends: %d bytes differ from append's %d", i, len(got), len(want))
		}
	}
	s := p.Stats()
	if s.InUseBytes != 0 || s.Oversize == 0 {
		t.Errorf("InUseBytes %d, Oversize %d: the blocks on the way should be back", s.InUseBytes, s.Oversize)
	}
	if s.Oversize > 10 {
		t.Errorf("%d allocations past the largest class: Append must leave room there", s.Oversize)
	}
}
