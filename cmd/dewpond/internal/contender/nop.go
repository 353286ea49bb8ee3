package contender

import "github.com/dewpond/dewpond/instruments/kit/palette"

var nop = Contender{
	Name:  "nop",
	Hue:   palette.Grey,
	About: "control, no pool: each goroutine keeps its own blocks; its cost is that of the driver",
	New:   func(o Options) Pool { return nopPool{o.Clearing} },

	Private: true,
}

type nopPool struct{ clearing bool }

func (p nopPool) View() View { return &nopView{clearing: p.clearing} }

// A nopView is one goroutine's stacks of free blocks.
type nopView struct {
	free     [maxClasses][]*byte // of sizes
	clearing bool
}

func (v *nopView) get(n int) []byte {
	c := fit(n)
	free := &v.free[c.index()]
	if last := len(*free) - 1; last >= 0 {
		data := (*free)[last]
		*free = (*free)[:last]
		return blockAt(data, c.size())[:n]
	}
	if *free == nil {
		// The stacks of two goroutines must not share a cache line.
		*free = make([]*byte, 0, 16)
	}
	return make([]byte, n, c.size())
}

func (v *nopView) put(b []byte) {
	if v.clearing {
		clear(b[:cap(b)])
	}
	free := &v.free[fit(cap(b)).index()]
	*free = append(*free, dataOf(b))
}

func (v *nopView) Get(n int) Block { return Block{Bytes: v.get(n)} }
func (v *nopView) Put(b Block)     { v.put(b.Bytes) }

func (v *nopView) Loop(n, count int) {
	for range count {
		b := v.get(n)
		touch(b)
		v.put(b)
	}
}
