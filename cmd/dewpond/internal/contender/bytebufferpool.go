package contender

import (
	"github.com/valyala/bytebufferpool"

	"github.com/dewpond/dewpond/instruments/kit/palette"
)

var byteBufferPool = Contender{
	Name:  "bytebufferpool",
	Hue:   palette.Brown,
	About: "github.com/valyala/bytebufferpool: one sync.Pool of growing buffers that learns the usual size; too small a buffer is grown by make",
	New:   func(o Options) Pool { return &bufferPool{clearing: o.Clearing} },
}

// A bufferPool has its own pool. The library's default pool would behave in the same way.
type bufferPool struct {
	pool     bytebufferpool.Pool
	clearing bool
}

func (p *bufferPool) View() View { return p }

func (p *bufferPool) get(n int) *bytebufferpool.ByteBuffer {
	b := p.pool.Get()
	if cap(b.B) < n {
		b.B = make([]byte, n)
	}
	b.B = b.B[:n]
	return b
}

func (p *bufferPool) put(b *bytebufferpool.ByteBuffer) {
	if p.clearing {
		clear(b.B[:cap(b.B)])
	}
	p.pool.Put(b)
}

func (p *bufferPool) Get(n int) Block {
	b := p.get(n)
	return Block{Bytes: b.B, handle: b}
}

func (p *bufferPool) Put(b Block) { p.put(b.handle.(*bytebufferpool.ByteBuffer)) }

func (p *bufferPool) Loop(n, count int) {
	for range count {
		b := p.get(n)
		touch(b.B)
		p.put(b)
	}
}
