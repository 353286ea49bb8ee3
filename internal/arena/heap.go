package arena

import "sync"

// A heap is where spans come from on a system that maps nothing. They lie anywhere,
// so a map finds them, and what Decommit lets go of is the collector's.
type heap struct {
	mu    sync.RWMutex      // held for one lookup, or as many writes as a span has granules
	spans map[uintptr]*span // by heapPage
}

func newHeap() *heap { return &heap{spans: make(map[uintptr]*span)} }

// heapPage is what the map counts in. Go aligns what is larger than 32 KiB to it;
// where it does not, alloc sees to it.
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
