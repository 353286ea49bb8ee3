package contender

import (
	"math"
	"sync/atomic"

	"github.com/dewpond/dewpond/instruments/kit/palette"
)

var syncpoolBounded = Contender{
	Name:    "syncpool-bounded",
	Hue:     palette.Tangerine,
	About:   "syncpool-class behind a semaphore that counts the bytes out: in flood it refuses what goes beyond dewpond's bound",
	Variant: true,
	New:     newBoundedPool,
}

// A boundedPool is what a program writes around sync.Pool to bound it. Idle blocks do not count:
// nobody can tell how many there are.
type boundedPool struct {
	classPool
	limit int64
	out   atomic.Int64 // bytes, by class
}

func newBoundedPool(o Options) Pool {
	p := &boundedPool{classPool: classPool{clearing: o.Clearing}, limit: math.MaxInt64}
	if o.Budget != nil {
		p.limit = o.Budget.Limit()
	}
	return p
}

func (p *boundedPool) View() View { return p }

func (p *boundedPool) Get(n int) Block {
	b := p.get(n)
	p.out.Add(int64(cap(b)))
	return Block{Bytes: b}
}

func (p *boundedPool) TryGet(n int) (Block, bool) {
	size := int64(fit(n).size())
	for {
		out := p.out.Load()
		if out+size > p.limit {
			return Block{}, false
		}
		if p.out.CompareAndSwap(out, out+size) {
			return Block{Bytes: p.get(n)}, true
		}
	}
}

func (p *boundedPool) Put(b Block) {
	p.out.Add(-int64(cap(b.Bytes)))
	p.put(b.Bytes)
}

func (p *boundedPool) Loop(n, count int) {
	for range count {
		b := p.Get(n)
		touch(b.Bytes)
		p.Put(b)
	}
}
