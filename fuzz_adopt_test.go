package dewpond_test

import (
	"slices"

	"github.com/dewpond/dewpond"
)

// What a poolsModel does with Adopt and with a BodyPool.

// A pooledBody is what a BodyPool has handed out.
type pooledBody struct {
	*span
	pool *pooledModel
}

// lostBytes is what is charged for blocks that bodies have outgrown.
func (m *poolsModel) lostBytes() (bytes int64) {
	if m.budget != nil {
		for _, s := range m.lost {
			bytes += int64(len(s.b))
		}
	}
	return bytes
}

// knowsOwn is whether the pools take their own blocks for what they are.
func (m *poolsModel) knowsOwn() bool { return m.checked || m.budget != nil }

func (m *poolsModel) adopt(p *pooledModel) {
	n := p.size() + 17*m.in.below(3)
	odd := 8 * m.in.below(2)
	m.say("Adopt %d bytes, %d off, to %d", n, odd, p.number())
	p.adopts(n, odd, p.Adopt)
}

// adopts lets a pool adopt what is made here, and counts what it must do with it.
func (p *pooledModel) adopts(n, odd int, adopt func([]byte)) {
	b := make([]byte, n+odd)[odd:]
	used := p.m.used()
	adopt(b)
	floor, exact := slices.BinarySearch(p.o.Classes, n)
	if !exact {
		floor--
	}
	switch {
	case n == 0:
	case n > p.largest():
		p.want.DroppedOversize++
	case offHeap:
		p.want.DroppedForeign++
		p.offended()
	case floor < 0 || n > 2*p.o.Classes[floor] || addressOf(b)%16 != 0:
		p.want.DroppedForeign++
	default:
		size := p.o.Classes[floor]
		p.noRoom = p.m.budget != nil && !p.closed && used+int64(size) > p.m.budget.Limit()
		if !p.noRoom {
			p.want.Adopted++
		}
		p.gotBack(floor)
	}
}

// gotBack counts the Put of a block that was not the user's by the pool's count.
func (p *pooledModel) gotBack(class int) {
	p.want.Classes[class].Puts++
	p.putSizes = append(p.putSizes, p.o.Classes[class])
	if p.closed {
		p.want.DroppedClosed++
	}
}

func (m *poolsModel) hintGet(p *pooledModel) {
	if offHeap || m.crowded() {
		return
	}
	if p.hint == nil {
		p.hint = p.Bodies()
	}
	m.say("Get from the BodyPool of %d", p.number())
	size := dewpond.BodySize(p.hint)
	b := p.hint.Get()
	h := p.counted(cap(b), true)
	if len(b) != 0 || cap(b) != h.size || h.size < size || h.size > 2*size || h.kind != ofClass {
		m.fail("a BodyPool of %d bytes returned %d of %d", size, len(b), cap(b))
	}
	if p.o.Zero != dewpond.ZeroNever {
		mustBeZero(m, b[:cap(b)])
	}
	p.inUse -= int64(h.size) // the BodyPool has it
	p.out--
	p.hintOut++
	p.hinted += int64(h.size)
	x := &pooledBody{m.claim(b), p}
	m.write(x.span)
	m.bodies = append(m.bodies, x)
}

// hintPut puts back a body, or one that has outgrown its block.
func (m *poolsModel) hintPut() {
	x, grown := takeOne(m.in, &m.bodies), m.in.below(2) == 1
	if x == nil {
		return
	}
	p, size := x.pool, len(x.b)
	m.unclaim(x.span)
	p.hintOut--
	p.hinted -= int64(size)
	if !grown {
		m.say("Put %d to the BodyPool of %d", size, p.number())
		p.hint.Put(x.b)
		if !m.knowsOwn() {
			p.want.Adopted++
		}
		p.gotBack(p.class(size))
		return
	}
	m.lost = append(m.lost, x.span)
	n := size + 1 + m.in.next()*m.in.next()
	m.say("Put %d that has outgrown %d to the BodyPool of %d", n, size, p.number())
	p.adopts(n, 0, p.hint.Put)
}
