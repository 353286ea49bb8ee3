package contender

import (
	"sync"

	"github.com/dewpond/dewpond/instruments/kit/palette"
)

var syncpoolMixed = Contender{
	Name:  "syncpool-mixed",
	Hue:   palette.Red,
	About: "one sync.Pool of []byte for all sizes; a block whose cap is too small is dropped and a new one made",
	New:   func(o Options) Pool { return &mixedPool{clearing: o.Clearing} },

	Allocs: 1,
}

// A mixedPool is a usual first pool of a service. To put a []byte into an interface allocates
// its header: this contender shows what that costs.
type mixedPool struct {
	pool     sync.Pool
	clearing bool
}

func (p *mixedPool) View() View { return p }

func (p *mixedPool) get(n int) []byte {
	if b, _ := p.pool.Get().([]byte); cap(b) >= n {
		return b[:n]
	}
	return make([]byte, n)
}

func (p *mixedPool) put(b []byte) {
	b = b[:cap(b)]
	if p.clearing {
		clear(b)
	}
	//lint:ignore SA6002 boxing the slice header is what this contender shows
	p.pool.Put(b)
}

func (p *mixedPool) Get(n int) Block { return Block{Bytes: p.get(n)} }
func (p *mixedPool) Put(b Block)     { p.put(b.Bytes) }

func (p *mixedPool) Loop(n, count int) {
	for range count {
		b := p.get(n)
		touch(b)
		p.put(b)
	}
}
