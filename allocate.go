package dewpond

import "fmt"

// classFor returns the class of a size that a caller asked for, or false for one
// above the largest.
func (p *BytePool) classFor(method string, n int) (class uint8, ok bool) {
	if n < 0 {
		panic(fmt.Sprintf("dewpond: %s(%d) on pool %q: the size is negative", method, n, p.name))
	}
	return p.classes.Class(n)
}

// allocate makes a fresh block for a caller, a miss.
func (p *BytePool) allocate(class uint8) ([]byte, error) {
	b, err := p.fresh(class)
	if err == nil {
		p.count.class[class].misses.Add(1)
		p.note(b)
	}
	return b, err
}

// allocateAllowed is allocate where AllocLimit has allowed a miss. Where the Source
// has no block that was none: the next who asks, or who waits already, may allocate
// in its stead.
func (p *BytePool) allocateAllowed(class uint8) ([]byte, error) {
	b, err := p.allocate(class)
	if err != nil && !p.limiter.unlimited() {
		p.limiter.restore()
		p.queue.mu.Lock()
		p.allowLocked()
		p.queue.mu.Unlock()
	}
	return b, err
}

// fresh makes a block that is all zero.
func (p *BytePool) fresh(class uint8) ([]byte, error) {
	size := p.classes.Size(class)
	if p.source == nil {
		return make([]byte, size), nil
	}
	b, err := p.source.Alloc(size)
	if err != nil {
		return nil, fmt.Errorf("dewpond: a block of %d bytes for pool %q: %w", size, p.name, err)
	}
	return b, nil
}

// oversize makes a slice that no class holds.
func (p *BytePool) oversize(n int) []byte {
	p.count.oversize.Add(1)
	return make([]byte, n)
}

// mayAllocate reports whether AllocLimit allows a miss now, and takes it from
// what is left. While somebody waits, what is left is his.
func (p *BytePool) mayAllocate() bool {
	if p.limiter.unlimited() {
		return true
	}
	return p.queue.waiting.Load() == 0 && p.limiter.allow()
}
