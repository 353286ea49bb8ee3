package contender

import (
	"github.com/bytedance/gopkg/lang/mcache"

	"github.com/dewpond/dewpond/instruments/kit/palette"
)

var mcacheContender = Contender{
	Name:  "mcache",
	Hue:   palette.Pink,
	About: "github.com/bytedance/gopkg/lang/mcache: a sync.Pool of data pointers for each power of two; its new memory is not zero",
	New:   func(o Options) Pool { return mcachePool{o.Clearing} },
}

// An mcachePool is the library's only pool, which the whole process shares.
type mcachePool struct{ clearing bool }

func (p mcachePool) View() View { return p }

func (p mcachePool) put(b []byte) {
	if p.clearing {
		clear(b[:cap(b)])
	}
	mcache.Free(b)
}

func (p mcachePool) Get(n int) Block { return Block{Bytes: mcache.Malloc(n)} }
func (p mcachePool) Put(b Block)     { p.put(b.Bytes) }

func (p mcachePool) Loop(n, count int) {
	for range count {
		b := mcache.Malloc(n)
		touch(b)
		p.put(b)
	}
}
