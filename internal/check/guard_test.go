package check

import (
	"os"
	"testing"

	"github.com/dewpond/dewpond/misuse"
)

// A fakeGuard records what it guards, and clears its content.
type fakeGuard struct {
	guarded map[*byte]bool
	refuse  bool
}

func (g *fakeGuard) Guard(b []byte) bool {
	if g.refuse {
		return false
	}
	clear(b)
	g.guarded[&b[0]] = true
	return true
}

func (g *fakeGuard) Unguard(b []byte) { delete(g.guarded, &b[0]) }

// A block is guarded from Poison until it is got or forgotten, and its lost poison is no
// violation. If the guard refuses, the poison is checked.
func TestBury(t *testing.T) {
	d, g := newDesk(), &fakeGuard{guarded: map[*byte]bool{}}
	d.Guard = g
	for _, leave := range []func(b []byte){func(b []byte) { d.getHere(b) }, func(b []byte) { d.Forget(at(b), b) }} {
		for _, g.refuse = range []bool{false, true} {
			b := make([]byte, 4096)
			d.getHere(b)
			d.putHere(b)
			d.Poison(at(b), b)
			if g.guarded[&b[0]] == g.refuse || Intact(b) != g.refuse {
				t.Errorf("refused %v: guarded %v, poison %v", g.refuse, g.guarded[&b[0]], Intact(b))
			}
			leave(b)
			if found := d.take(); found != nil || g.guarded[&b[0]] {
				t.Errorf("refused %v: guarded %v, found %v", g.refuse, g.guarded[&b[0]], found)
			}
		}
	}
	b := make([]byte, 4096)
	d.getHere(b)
	d.putHere(b)
	g.refuse = true
	d.Poison(at(b), b)
	b[7] = 0
	d.getHere(b)
	d.expect(t, misuse.WriteAfterPut, "getHere", "putHere", "getHere")
}

// The kind of a fault depends on the block that it is nearest to.
func TestFault(t *testing.T) {
	page := os.Getpagesize()
	d, b := newDesk(), make([]byte, 3*page)
	idle, out := b[:100], b[2*page:2*page+100] // a page and more apart
	d.getHere(idle)
	d.getHere(out)
	d.putHere(idle)
	for _, c := range []struct {
		name string
		at   uintptr
		kind misuse.Kind
		none bool
	}{
		{"the idle block", at(idle), misuse.UseAfterPut, false},
		{"its last byte", at(idle) + 99, misuse.UseAfterPut, false},
		{"its first page", at(idle) - 16, misuse.UseAfterPut, false},
		{"behind it", at(idle) + 100, misuse.PastEnd, false},
		{"behind the other", at(out) + 100, misuse.PastEnd, false},
		{"inside the other", at(out) + 50, 0, true},
		{"far from both", at(out) + uintptr(3*page), 0, true},
	} {
		if v := d.Fault(c.at); v != nil {
			t.Errorf("%s: %v without a guard", c.name, v)
		}
		d.Guard = &fakeGuard{}
		v := d.Fault(c.at)
		d.Guard = nil
		if (v == nil) != c.none || v != nil && (v.Kind != c.kind || v.Size != 100 || v.Got == nil || v.Offence == nil) {
			t.Errorf("%s: %v", c.name, v)
		}
	}
}
