package guardpage

import (
	"bytes"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/dewpond/dewpond/misuse"
)

// unasking is a system that makes huge pages unasked, and a Guard there.
func unasking(page int) (*fake, *Guard) {
	f := newFake(page)
	f.huge = true
	return f, f.guard()
}

// inRegion reports whether a block is cut from the Guard's region.
func (g *Guard) inRegion(b []byte) bool {
	return g.region != nil && addressOf(b)-addressOf(g.region.pages) < regionBytes
}

// pagesTaken returns how many pages of the region are.
func (g *Guard) pagesTaken() (n int) {
	for _, is := range g.region.taken {
		if is {
			n++
		}
	}
	return n
}

// Where huge pages are made unasked all blocks are cut from one region that is kept small, which is set once: no two
// that are known share a page, each is zero, and a use is found as elsewhere.
func TestRegion(t *testing.T) {
	for _, page := range []int{4 << 10, 16 << 10, 64 << 10} {
		f, g := unasking(page)
		p := &pool{}
		sizes := []int{1, 100, 4000, 5000, 20_000, MaxSize - Marked, MaxSize}
		if page == 64<<10 { // seldom two of so few are free in a row
			sizes = sizes[:6]
		}
		type taken struct{ block, own []byte }
		var out []taken
		for i := range 3000 {
			own := make([]byte, sizes[i%len(sizes)])
			b := g.Get(own, p)
			if b == nil {
				t.Fatalf("no block: %s", g.Off())
			}
			if !g.inRegion(b) || len(bytes.Trim(b, "\x00")) > 0 {
				t.Fatalf("a block of %d bytes in the region: %t, that begins with %q", len(b), g.inRegion(b), b[:1])
			}
			for j := range b {
				b[j] = byte(i)
			}
			out = append(out, taken{b, own})
			if len(out) < 20 {
				continue
			}
			first := out[0]
			out = out[1:]
			if n := bytes.Count(first.block, first.block[:1]); n != len(first.block) {
				t.Fatal("a block has two owners")
			}
			if _, v, _ := g.Put(first.block, false, p); v != Accepted {
				t.Fatalf("Put: %v", v)
			}
		}
		if len(p.found) != 0 || len(f.small) != 1 || len(f.small[0]) != regionBytes || len(g.queue) < 20 {
			t.Errorf("found %v; %d regions are kept small; %d blocks are idle", p.found, len(f.small), len(g.queue))
		}
		late := put(t, g, p, 100)
		f.touch(late)
		copy(late, "late")
		if g.Sweep(); len(p.found) != 1 || p.found[0].Kind != misuse.WriteAfterPut || string(p.found[0].New) != "late" {
			t.Errorf("found %v", p.found)
		}
		for range 2 * len(g.region.taken) { // one is cut where the late writer has written
			b := g.Get(make([]byte, 100), p)
			if len(bytes.Trim(b, "\x00")) > 0 {
				t.Fatalf("a block begins with %q", b)
			}
			g.Put(b, false, p)
		}
		for _, o := range out {
			g.Put(o.block, false, p)
		}
		if g.dropAll(); g.pagesTaken() != 2 || g.Known() != 0 {
			t.Errorf("%d pages are taken, %d blocks known", g.pagesTaken(), g.Known())
		}
	}
}

// Blocks that stay out are no more than half of the region, and then Stats say so. One that is put back makes room.
func TestRegionIsBounded(t *testing.T) {
	_, g := unasking(4096)
	p := &pool{}
	var out [][]byte
	for b := g.Get(make([]byte, 30_000), p); b != nil; b = g.Get(make([]byte, 30_000), p) {
		out = append(out, b)
	}
	if got, want := len(out), regionBytes/2/(32<<10); got != want || !strings.Contains(g.Off(), "are out") {
		t.Errorf("%d blocks are out, want %d; off: %q", got, want, g.Off())
	}
	g.Put(out[0], false, p)
	if b := g.Get(make([]byte, 20_000), p); b == nil || g.Off() != "" {
		t.Errorf("after a Put no block; off: %s", g.Off())
	}
}

// Where the setting changes while the program runs, what was idle is forgotten, and nothing is believed until the
// next answer. From then on blocks are of the other kind. One that is out goes back, unwatched.
func TestRegionComesAndGoes(t *testing.T) {
	f, p := newFake(4096), &pool{}
	g := f.guard()
	ask := func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.ask()
		g.asked = time.Now().Add(time.Hour) // from now on only to believe something
	}
	for range 3 {
		for _, huge := range []bool{false, true} {
			f.huge = huge
			ask()
			ask()
			idle := put(t, g, p, 100)
			if g.inRegion(idle) != huge || g.LosesForGood() != huge {
				t.Fatalf("huge pages unasked: %t, and a block in the region: %t", huge, !huge)
			}
			if b := g.GetFor(Collected, make([]byte, 100), p); (b == nil) != huge {
				t.Errorf("huge pages unasked: %t, and a block that must be collected: %t", huge, b != nil)
			} else if b != nil {
				g.Put(b, false, p)
			}
			out := g.Get(make([]byte, 100), p)
			f.touch(idle)
			f.huge = !huge
			if g.Sweep(); len(p.found) != 0 {
				t.Fatalf("found %v", p.found)
			}
			g.asked = time.Now().Add(time.Hour)
			if !strings.Contains(g.Off(), "huge pages") || g.Get(make([]byte, 100), p) != nil || len(g.queue) != 0 {
				t.Errorf("off: %q; %d are idle", g.Off(), len(g.queue))
			}
			ask()
			if own, v, _ := g.Put(out, false, p); own == nil || v != Accepted || len(g.queue) != 0 || g.Known() != 0 {
				t.Errorf("Put: %v; %d are idle, %d known", v, len(g.queue), g.Known())
			}
		}
	}
	if g.pagesTaken() > 2 { // the proof
		t.Errorf("%d pages are taken", g.pagesTaken())
	}
}

// Where the system keeps no page small, guarding ends and says so.
func TestRegionRefused(t *testing.T) {
	f, g := unasking(4096)
	f.refuses = syscall.EINVAL
	want := "huge pages are made unasked, and the system does not keep any small: " + syscall.EINVAL.Error()
	if b := g.Get(make([]byte, 100), &pool{}); b != nil || g.Off() != want || g.Due() {
		t.Errorf("off: %q, want %q", g.Off(), want)
	}
}
