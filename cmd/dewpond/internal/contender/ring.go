package contender

import (
	"sync/atomic"

	"github.com/dewpond/dewpond/instruments/kit/palette"
)

var ring = Contender{
	Name:  "ring",
	Hue:   palette.Purple,
	About: "a bounded lock-free ring (Vyukov's, many producers and consumers) for each class, 64 to 1024 blocks or room for one burst, data pointers; full: dropped",
	New:   newRingPool,

	MostIdle: slots,
}

type ringPool struct {
	rings    [maxClasses]mpmc // of sizes
	clearing bool
}

func newRingPool(o Options) Pool {
	p := &ringPool{clearing: o.Clearing}
	for i, size := range sizes {
		p.rings[i].init(o.slots(size))
	}
	return p
}

func (p *ringPool) View() View { return p }

func (p *ringPool) get(n int) []byte {
	c := fit(n)
	if data := p.rings[c.index()].pop(); data != nil {
		return blockAt(data, c.size())[:n]
	}
	return make([]byte, n, c.size())
}

func (p *ringPool) put(b []byte) {
	c := fit(cap(b))
	if c.size() != cap(b) {
		return
	}
	if p.clearing {
		clear(b[:c.size()])
	}
	p.rings[c.index()].push(dataOf(b))
}

func (p *ringPool) Get(n int) Block { return Block{Bytes: p.get(n)} }
func (p *ringPool) Put(b Block)     { p.put(b.Bytes) }

func (p *ringPool) Loop(n, count int) {
	for range count {
		b := p.get(n)
		touch(b)
		p.put(b)
	}
}

func (p *ringPool) IdleBytes() int64 {
	var sum int64
	for i := range sizes {
		sum += int64(p.rings[i].len()) * int64(sizes[i])
	}
	return sum
}

// An mpmc is D. Vyukov's bounded queue. The turn of a cell tells its owner. If turn is the
// ticket of a push, the cell is empty and that push may fill it; if it is one more, the cell
// holds the block of that push. Storing turn passes the cell, and with it the block, to the
// next owner. While a push is descheduled between taking its ticket and storing the turn, the
// ring looks empty to all pops behind it: they allocate.
type mpmc struct {
	cells []cell
	_     [64]byte // push and pop contend for different tickets
	tail  atomic.Uint64
	_     [64]byte
	head  atomic.Uint64
	_     [64]byte
}

type cell struct {
	turn atomic.Uint64
	data *byte
}

func (q *mpmc) init(slots int) {
	q.cells = make([]cell, slots)
	for i := range q.cells {
		q.cells[i].turn.Store(uint64(i))
	}
}

// push reports whether there was room.
func (q *mpmc) push(data *byte) bool {
	mask := uint64(len(q.cells) - 1)
	for ticket := q.tail.Load(); ; ticket = q.tail.Load() {
		c := &q.cells[ticket&mask]
		switch turn := c.turn.Load(); {
		case turn == ticket:
			if q.tail.CompareAndSwap(ticket, ticket+1) {
				c.data = data
				c.turn.Store(ticket + 1)
				return true
			}
		case turn < ticket: // still holds the block of the previous lap
			return false
		}
	}
}

// pop returns nil when the ring is empty.
func (q *mpmc) pop() *byte {
	mask := uint64(len(q.cells) - 1)
	for ticket := q.head.Load(); ; ticket = q.head.Load() {
		c := &q.cells[ticket&mask]
		switch turn := c.turn.Load(); {
		case turn == ticket+1:
			if q.head.CompareAndSwap(ticket, ticket+1) {
				data := c.data
				c.data = nil
				c.turn.Store(ticket + uint64(len(q.cells)))
				return data
			}
		case turn <= ticket: // not pushed yet
			return nil
		}
	}
}

func (q *mpmc) len() int { return int(q.tail.Load() - q.head.Load()) }
