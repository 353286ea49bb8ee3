package arena

import "sync"

// A heap allocates spans on a system that maps nothing. They lie anywhere, so a map
// finds them, and the collector takes what Decommit releases.
type heap struct {
	mu    sync.RWMutex      // held for one lookup, or for as many writes as a span has pages
	spans map[uintptr]*span // by heapPage
}

func newHeap() *heap { return &heap{spans: make(map[uintptr]*span)} }

// heapPage is the unit of the map's keys. Go aligns allocations above 32 KiB to it; if
// it does not, alloc does.
const heapPage = 8 << 10

// alloc returns zeroed memory that begins at a multiple of heapPage.
func (h *heap) alloc(granules int) []byte {
	bytes := granules << granuleShift
	b := make([]byte, bytes)
	if addressOf(b)%heapPage == 0 {
		return b
	}
	b = make([]byte, bytes+heapPage-1)
	skip := int(-addressOf(b) % heapPage)
	return b[skip : skip+bytes : skip+bytes]
}

func (h *heap) index(at, to *span) {
	h.mu.Lock()
	defer h.mu.Unlock()
	first := at.base / heapPage
	for page := first; page < first+uintptr(at.granules<<granuleShift/heapPage); page++ {
		if to == nil {
			delete(h.spans, page)
		} else {
			h.spans[page] = to
		}
	}
}

func (h *heap) find(at uintptr) *span {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.spans[at/heapPage]
}

func (h *heap) all() (spans []*span) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	for page, s := range h.spans {
		if page == s.base/heapPage {
			spans = append(spans, s)
		}
	}
	return spans
}
