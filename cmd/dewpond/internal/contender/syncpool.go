package contender

import (
	"sync"

	"github.com/dewpond/dewpond/instruments/kit/palette"
)

var syncpool = Contender{
	Name:    "syncpool",
	Hue:     palette.Olive,
	About:   "one sync.Pool of *[]byte for all sizes; a block whose cap is too small is dropped, and a larger one made in its place",
	Variant: true,
	New: func(o Options) Pool {
		return &pointerPool{sync.Pool{New: func() any { return new([]byte) }}, o.Clearing}
	},
}

// A pointerPool is a sync.Pool as its documentation and vet have it: what is put is a pointer, so
// that Put allocates nothing.
type pointerPool struct {
	pool     sync.Pool
	clearing bool
}

func (p *pointerPool) View() View { return p }

func (p *pointerPool) get(n int) *[]byte {
	b := p.pool.Get().(*[]byte)
	resize(b, n)
	return b
}

func (p *pointerPool) put(b *[]byte) {
	if p.clearing {
		clear((*b)[:cap(*b)])
	}
	p.pool.Put(b)
}

func (p *pointerPool) Get(n int) Block {
	b := p.get(n)
	return Block{Bytes: *b, handle: b}
}

func (p *pointerPool) Put(b Block) { p.put(b.handle.(*[]byte)) }

func (p *pointerPool) Loop(n, count int) {
	for range count {
		b := p.get(n)
		touch(*b)
		p.put(b)
	}
}

// resize gives *b a length. If its cap is too small, new memory takes the place of the old.
func resize(b *[]byte, n int) {
	if cap(*b) < n {
		*b = make([]byte, n)
		return
	}
	*b = (*b)[:n]
}
