package contender

import "github.com/dewpond/dewpond/instruments/kit/palette"

var channel = Contender{
	Name:  "channel",
	Hue:   palette.Green,
	About: "a buffered channel for each class, 64 to 1024 blocks or room for one burst, data pointers; full: dropped",
	New:   newChannelPool,

	MostIdle: slots,
}

type channelPool struct {
	free     [maxClasses]chan *byte // of sizes
	clearing bool
}

func newChannelPool(o Options) Pool {
	p := &channelPool{clearing: o.Clearing}
	for i, size := range sizes {
		p.free[i] = make(chan *byte, o.slots(size))
	}
	return p
}

func (p *channelPool) View() View { return p }

func (p *channelPool) get(n int) []byte {
	c := fit(n)
	select {
	case data := <-p.free[c.index()]:
		return blockAt(data, c.size())[:n]
	default:
		return make([]byte, n, c.size())
	}
}

func (p *channelPool) put(b []byte) {
	c := fit(cap(b))
	if c.size() != cap(b) {
		return
	}
	if p.clearing {
		clear(b[:c.size()])
	}
	select {
	case p.free[c.index()] <- dataOf(b):
	default:
	}
}

func (p *channelPool) Get(n int) Block { return Block{Bytes: p.get(n)} }
func (p *channelPool) Put(b Block)     { p.put(b.Bytes) }

func (p *channelPool) Loop(n, count int) {
	for range count {
		b := p.get(n)
		touch(b)
		p.put(b)
	}
}

func (p *channelPool) IdleBytes() int64 {
	var sum int64
	for i, size := range sizes {
		sum += int64(len(p.free[i])) * int64(size)
	}
	return sum
}
