package contender

import (
	"github.com/dewpond/dewpond"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/tool"
)

var dewpondContender = Contender{
	Name:  "dewpond",
	About: "dewpond.BytePool with its default options but for the zeroing policy",
	New:   newDewpond,
	Tools: tool.Cases,
}

type dewpondPool struct{ pool *dewpond.BytePool }

func newDewpond(clearing bool) Pool {
	o := dewpond.BytePoolOptions{Name: "bench", Zero: dewpond.ZeroNever}
	if clearing {
		o.Zero = dewpond.ZeroOnPut
	}
	return dewpondPool{dewpond.MustBytePool(o)}
}

func (p dewpondPool) View() View { return p }

func (p dewpondPool) Get(n int) Block { return Block{Bytes: p.pool.Get(n)} }
func (p dewpondPool) Put(b Block)     { p.pool.Put(b.Bytes) }

func (p dewpondPool) Loop(n, count int) {
	for range count {
		b := p.pool.Get(n)
		touch(b)
		p.pool.Put(b)
	}
}

func (p dewpondPool) IdleBytes() int64 { return p.pool.Stats().IdleBytes }
func (p dewpondPool) Engine() string   { return p.pool.Stats().Engine }
