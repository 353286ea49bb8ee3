package guardpage

// Where the kernel makes huge pages unasked, it makes the absent pages beside a resident one resident too, which
// looks like a use. It leaves alone what it is told to leave alone, but that splits a mapping for good. So there
// guarded blocks, and the proof, are cut from one region of the Go heap, which it is told of once, and cut again from where
// others were before.
//
// The collector has the region as a whole or not at all. So a block in it that its owner loses is out for
// good, and a late user of one that has left the queue may touch the next that is cut there, as with any block of a
// pool.

// regionBytes is how large the region is. Half of it may be out, and half idle.
const regionBytes = maxBytes

// A region is memory whose pages stay small. The Guard's lock guards it.
type region struct {
	pages []byte
	page  int
	taken []bool // by page
	next  int    // where to look first, so that what was given back last is taken last
}

// newRegion makes one.
func (g *Guard) newRegion() (*region, error) {
	page := g.sys.pageSize
	r := &region{pages: pagesOf(regionBytes, page), page: page, taken: make([]bool, regionBytes/page)}
	if err := g.sys.keepSmall(r.pages); err != nil {
		return nil, err
	}
	return r, g.sys.giveBack(r.pages) // some may be huge
}

// cut returns n bytes of whole pages, all zero, or nil if there are not so many in a row.
func (r *region) cut(n int) []byte {
	most := len(r.taken) - n/r.page
	for range len(r.taken) {
		if r.next > most {
			r.next = 0
		}
		row := r.taken[r.next : r.next+n/r.page]
		last := len(row) - 1
		for last >= 0 && !row[last] {
			last--
		}
		if last < 0 {
			from := r.next * r.page
			pages := r.pages[from : from+n : from+n]
			r.next += len(row)
			for i := range row {
				row[i] = true
			}
			clear(pages)
			return pages
		}
		r.next += last + 1
	}
	return nil
}

// free has pages cut again, of which the first begins at an address.
func (r *region) free(at uintptr, n int) {
	first := int(at-addressOf(r.pages)) / r.page
	clear(r.taken[first : first+n/r.page])
}

// pagesFor returns n bytes of whole pages, all zero, for a block or the proof, or nil if there are none now.
func (g *Guard) pagesFor(n int) []byte {
	if !g.unasked {
		return pagesOf(n, g.sys.pageSize)
	}
	if g.region == nil {
		made, err := g.newRegion()
		if err != nil {
			g.turnOff("huge pages are made unasked, and the system does not keep any small: " + err.Error())
			return nil
		}
		g.region = made
	}
	return g.region.cut(n)
}

// most is how many bytes of blocks may be out, and how many idle at most.
func (g *Guard) most() int {
	if g.unasked {
		return regionBytes / 2
	}
	return maxBytes
}
