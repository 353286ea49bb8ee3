package contender

import (
	"sync"

	"github.com/dewpond/dewpond/instruments/kit/palette"
)

var syncpoolClass = Contender{
	Name:  "syncpool-class",
	Hue:   palette.Orange,
	About: "one sync.Pool for each of dewpond's classes, holding data pointers: the best honest use of sync.Pool",
	New:   func(o Options) Pool { return &classPool{clearing: o.Clearing} },
}

type classPool struct {
	pools    [maxClasses]sync.Pool // of *byte
	clearing bool
}

func (p *classPool) View() View { return p }

func (p *classPool) get(n int) []byte {
	c := fit(n)
	if data, _ := p.pools[c.index()].Get().(*byte); data != nil {
		return blockAt(data, c.size())[:n]
	}
	return make([]byte, n, c.size())
}

func (p *classPool) put(b []byte) {
	c := fit(cap(b))
	if c.size() != cap(b) {
		return
	}
	if p.clearing {
		clear(b[:c.size()])
	}
	p.pools[c.index()].Put(dataOf(b))
}

func (p *classPool) Get(n int) Block { return Block{Bytes: p.get(n)} }
func (p *classPool) Put(b Block)     { p.put(b.Bytes) }

func (p *classPool) Loop(n, count int) {
	for range count {
		b := p.get(n)
		touch(b)
		p.put(b)
	}
}
