package guardpage

import (
	"syscall"
	"testing"
)

// unaskingSystem is this system, as if it made huge pages unasked.
func unaskingSystem(t *testing.T) system {
	s, why := thisSystem()
	if why != "" || sanitized != "" {
		t.Skip(why, sanitized)
	}
	s.unasked = func() bool { return true }
	return s
}

// Samples leave no mapping behind, but for the ends of the region.
func TestRegionMappings(t *testing.T) {
	s := unaskingSystem(t)
	sizes := []int{100, 1000, 4000, 5000, 9000, 20_000, 60_000}
	sample := func(g *Guard, p *pool, n int) {
		for i := range n {
			put(t, g, p, sizes[i%len(sizes)])
		}
	}
	heap, p := s, &pool{}
	heap.unasked = func() bool { return false }
	other := touching(heap)
	if other.Get(make([]byte, 100), p) == nil {
		t.Skip(other.Off())
	}
	sample(other, p, maxBlocks) // the heap has grown
	before, most := mappings(t), 0
	g := touching(s)
	for range 100 {
		sample(g, p, *samples/100)
		most = max(most, mappings(t))
	}
	t.Logf("%d mappings, at most %d while %d blocks were sampled", before, most, *samples)
	if most > before+8 || len(p.found) != 0 {
		t.Errorf("%d mappings have become %d; found %v", before, most, p.found)
	}
}

// What the kernel's thread does to pages that were given back it does not do to those of the region. MADV_COLLAPSE does
// the same at once.
func TestRegionStaysSmall(t *testing.T) {
	const collapse, huge = 25, 2 << 20
	s := unaskingSystem(t)
	g, p := touching(s), &pool{}
	if g.Get(make([]byte, 100), p) == nil {
		t.Skip(g.Off())
	}
	within := func(b []byte) []byte { // what may become one page
		from := missing(addressOf(b), huge)
		return b[from : from+huge]
	}
	control := within(make([]byte, 2*huge))
	for i := range control {
		control[i] = 1
	}
	if err := s.giveBack(control[:g.sys.pageSize]); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Madvise(control, collapse); err != nil {
		t.Skip("no huge pages by request here: ", err)
	}
	if is, err := s.resident(control[:g.sys.pageSize]); err != nil || !is[0] {
		t.Skip("a huge page has not made its pages resident: ", err)
	}
	for range 100 {
		put(t, g, p, 5000)
	}
	if err := syscall.Madvise(within(g.region.pages), collapse); err == nil {
		t.Error("a part of the region has become a huge page")
	}
	if g.Sweep(); len(p.found) != 0 || len(g.queue) != 100 {
		t.Errorf("found %v; %d of 100 are idle", p.found, len(g.queue))
	}
}
