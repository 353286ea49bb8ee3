package contender

import (
	"github.com/dewpond/dewpond/dewsync"
	"github.com/dewpond/dewpond/instruments/kit/palette"
)

var dewsyncContender = Contender{
	Name:    "dewsync",
	Hue:     palette.Cyan,
	About:   "syncpool with dewsync.Pool in the place of sync.Pool, and nothing else changed",
	Variant: true,
	New: func(o Options) Pool {
		return &dewsyncPool{dewsync.Pool{New: func() any { return new([]byte) }}, o.Clearing}
	},
}

// A dewsyncPool is a pointerPool, line by line. They share no code that calls their pools, because
// an indirect call would cost both the same and bring them closer together.
type dewsyncPool struct {
	pool     dewsync.Pool
	clearing bool
}

func (p *dewsyncPool) View() View { return p }

func (p *dewsyncPool) get(n int) *[]byte {
	b := p.pool.Get().(*[]byte)
	resize(b, n)
	return b
}

func (p *dewsyncPool) put(b *[]byte) {
	if p.clearing {
		clear((*b)[:cap(*b)])
	}
	p.pool.Put(b)
}

func (p *dewsyncPool) Get(n int) Block {
	b := p.get(n)
	return Block{Bytes: *b, handle: b}
}

func (p *dewsyncPool) Put(b Block) { p.put(b.handle.(*[]byte)) }

func (p *dewsyncPool) Loop(n, count int) {
	for range count {
		b := p.get(n)
		touch(*b)
		p.put(b)
	}
}
