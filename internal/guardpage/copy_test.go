package guardpage

import (
	"bytes"
	"testing"
)

// A block with contents has what the pool's own has, up to its cap, and the pool's own gets what is in the block
// when that is put back, before its pages go, also if its cap was cut. Any other has and gives nothing.
func TestContents(t *testing.T) {
	for _, guard := range []func(s system) *Guard{touching, faulting} {
		f := newFake(4096)
		g, p := guard(f.system), &pool{}
		own, want := bytes.Repeat([]byte("own "), 2000), bytes.Repeat([]byte("new "), 2000)
		b := g.GetFor(Contents, own[:10], p)
		if len(b) != 10 || !bytes.Equal(b[:cap(b)], own) {
			t.Fatalf("a block of %d bytes that begins with %q", cap(b), b)
		}
		copy(b[:cap(b)], want)
		back, v, _ := g.Put(b[:5:100], true, p)
		if v != Accepted || addressOf(back) != addressOf(own) || !bytes.Equal(own, want) {
			t.Errorf("Put: %v; the pool's own begins with %q", v, own[:10])
		}
		b = g.Get(own[:10], p)
		if clear(want); !bytes.Equal(b[:cap(b)], want) {
			t.Errorf("a block begins with %q", b)
		}
		copy(b, "written")
		if g.Put(b, false, p); !bytes.HasPrefix(own, []byte("new ")) {
			t.Errorf("the pool's own begins with %q", own[:10])
		}
		if g.dropAll(); len(p.found) != 0 {
			t.Errorf("found %v", p.found)
		}
	}
}
