package check

import (
	"slices"
	"sync"
)

// A pages finds the watched blocks that are near an address. For each page it has where the blocks
// begin that have bytes in it.
type pages struct {
	mu     sync.Mutex
	starts map[uintptr][]uintptr // by number of the page
}

// pageSize is a trade: a large block is on many small pages, and many small blocks on a large one.
const pageSize = 8 << 10

func (p *pages) add(at uintptr, size int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.starts == nil {
		p.starts = make(map[uintptr][]uintptr)
	}
	for page := at / pageSize; page*pageSize < at+uintptr(size); page++ {
		p.starts[page] = append(p.starts[page], at)
	}
}

// remove undoes add.
func (p *pages) remove(at uintptr, size int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for page := at / pageSize; page*pageSize < at+uintptr(size); page++ {
		on := p.starts[page]
		if len(on) == 1 {
			delete(p.starts, page)
			continue
		}
		i := slices.Index(on, at)
		on[i] = on[len(on)-1]
		p.starts[page] = on[:len(on)-1]
	}
}

// near returns where the blocks begin that are on the pages of a slice, some perhaps twice.
func (p *pages) near(at uintptr, size int) (starts []uintptr) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for page := at / pageSize; page*pageSize < at+uintptr(size); page++ {
		starts = append(starts, p.starts[page]...)
	}
	return starts
}
