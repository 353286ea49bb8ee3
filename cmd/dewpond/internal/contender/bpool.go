package contender

import (
	"github.com/oxtoacart/bpool"

	"github.com/dewpond/dewpond/instruments/kit/palette"
)

var bytePool = Contender{
	Name:    "bpool",
	Hue:     palette.Plum,
	About:   "github.com/oxtoacart/bpool: a buffered channel of blocks of one size, here of 64 MiB but at most 4096 blocks, or of one burst; full: dropped",
	Variant: true,
	New: func(o Options) Pool {
		return bpoolPool{bpool.NewBytePool(max(bpoolIdle(max(o.Size, 1)), o.Room[o.Size]), o.Size), o.Clearing}
	},

	OneSize:  true,
	MostIdle: bpoolIdle,
}

// bpoolIdle is how many blocks the pool is told to keep: as many bytes as dewpond keeps of a pool
// that has seen no burst, but at most 4096. Options.Room may ask for more.
func bpoolIdle(size int) int { return min(mostIdle(size), 4096) }

type bpoolPool struct {
	pool     *bpool.BytePool
	clearing bool
}

func (p bpoolPool) View() View { return p }

func (p bpoolPool) put(b []byte) {
	if p.clearing {
		clear(b[:cap(b)])
	}
	p.pool.Put(b)
}

func (p bpoolPool) Get(int) Block { return Block{Bytes: p.pool.Get()} }
func (p bpoolPool) Put(b Block)   { p.put(b.Bytes) }

func (p bpoolPool) Loop(_, count int) {
	for range count {
		b := p.pool.Get()
		touch(b)
		p.put(b)
	}
}

func (p bpoolPool) IdleBytes() int64 { return int64(p.pool.NumPooled()) * int64(p.pool.Width()) }
