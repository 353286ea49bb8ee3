package dewpond_test

import (
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/guardpage"
)

// Where all classes are multiples of 64, guarded blocks begin at such as the others do, and are found as elsewhere.
func TestGuardedAlignment(t *testing.T) {
	g := guarding(t)
	classes := []int{64, 192, 320, 576, 1024, 9472, 64 << 10}
	for _, size := range classes {
		p := g.pool(dewpond.BytePoolOptions{Classes: classes})
		var plain [][]byte
		for range 100 {
			b := p.Get(size)
			if at := addressOf(b); at%64 != 0 || at%128 == 64 != dewpond.IsGuarded(b) || cap(b) != size {
				t.Fatalf("a block of %d bytes is at %#x, guarded: %t", cap(b), at, dewpond.IsGuarded(b))
			}
			plain = append(plain, b)
		}
		for _, b := range plain {
			p.Put(b)
		}
		b := g.sample(p, size)
		p.Put(b)
		if found := g.sweep(); found != nil {
			t.Fatalf("found %v", found)
		}
		b[size-1] = 1
		if found := g.sweep(); len(found) != 1 || found[0].Kind != dewpond.WriteAfterPut || found[0].Offset != size-1 || found[0].Size != size {
			t.Errorf("after a write at the end of %d bytes, found %v", size, found)
		}
	}
	p, other := g.pool(dewpond.BytePoolOptions{Name: "aligned", Classes: classes}), g.pool(dewpond.BytePoolOptions{Name: "other"})
	b := g.sample(p, 1024)
	p.Put(b)
	p.Put(b)
	if found := g.sweep(); len(found) != 1 || found[0].Kind != dewpond.DoublePut {
		t.Errorf("after a second Put, found %v", found)
	}
	b = g.sample(p, 9472)
	p.Put(b[guardpage.Wide:])
	if found := g.sweep(); len(found) != 1 || found[0].Kind != dewpond.InteriorPut || found[0].Offset != guardpage.Wide {
		t.Errorf("after a Put of a part, found %v", found)
	}
	p.Put(b)
	b = g.sample(other, 1024)
	p.Put(b)
	if found := g.sweep(); len(found) != 1 || found[0].Kind != dewpond.ForeignPut || found[0].Holder != "other" {
		t.Errorf("after a Put of another pool's, found %v", found)
	}
	other.Put(b)
}
