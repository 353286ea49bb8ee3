package lease

import (
	"context"

	"github.com/dewpond/dewpond"
)

func late(p *dewpond.BytePool) byte {
	l := p.Lease(10)
	b := l.Bytes()
	l.Release()
	return b[0] // want `a slice of the lease is used after Release at a.go:12:11 \(lease\)`
}

func inTime(p *dewpond.BytePool) byte {
	l := p.Lease(10)
	b := l.Bytes()
	c := b[0]
	l.Release()
	return c
}

func twice(p *dewpond.BytePool) {
	l := p.Lease(10)
	l.Release()
	l.Release() // want `the lease is released again`
}

func bytesLate(p *dewpond.BytePool) {
	l := p.Lease(10)
	l.Release()
	l.Bytes() // want `Bytes is called after Release`
}

func retained(p *dewpond.BytePool) dewpond.Lease {
	l := p.Lease(10)
	m := l.Retain()
	l.Release()
	return m
}

func returned(p *dewpond.BytePool) []byte {
	l := p.Lease(10)
	defer l.Release()
	return l.Bytes() // want `a slice of the lease is returned, but the deferred Release`
}

func anew(p *dewpond.BytePool) {
	for range 3 {
		l := p.Lease(10)
		l.Bytes()[0] = 1
		l.Release()
	}
}

func onOneWay(p *dewpond.BytePool, bad bool) int {
	l := p.Lease(10)
	if bad {
		return 0 // want `the lease that Lease returned at a.go:\d+:\d+ is not released on this way, nor handed on \(lease\)`
	}
	n := len(l.Bytes())
	l.Release()
	return n
}

func never(p *dewpond.BytePool) {
	l := p.Lease(10)
	l.Bytes()[0] = 1
} // want `the lease that Lease returned at a.go:\d+:\d+ is not released`

func retainedForNobody(l dewpond.Lease) int {
	m := l.Retain()
	return m.Len() // want `the lease that Retain returned at`
}

func part(l dewpond.Lease, done bool) int {
	m := l.Slice(0, 3)
	if done {
		m.Release()
	}
	return 1 // want `the lease that Slice returned at`
}

func handedOn(p *dewpond.BytePool, to chan dewpond.Lease) {
	l := p.Lease(10)
	l = l.Truncate(3)
	to <- l
}

func truncated(p *dewpond.BytePool) int {
	l := p.Lease(10)
	l.Truncate(3) // want `the result of Truncate is dropped`
	n := l.Len()
	l.Release()
	return n
}

type message struct {
	n    int
	body dewpond.Lease
}

func inAStruct(p *dewpond.BytePool) *message {
	return &message{1, p.Lease(10)}
}

func inAStructVariable(p *dewpond.BytePool) message {
	l := p.Lease(10)
	m := message{n: 1}
	m.body = l
	return m
}

func inASlice(p *dewpond.BytePool, all []dewpond.Lease) []dewpond.Lease {
	for range 3 {
		l := p.Lease(10)
		all = append(all, l)
	}
	return all
}

func captured(p *dewpond.BytePool) (n int) {
	l := p.Lease(10)
	defer func() { l.Release() }()
	return l.Len()
}

func failed(ctx context.Context, p *dewpond.BytePool) error {
	l, err := p.LeaseContext(ctx, 10)
	if err != nil {
		return err
	}
	l.Release()
	return nil
}

func sentAndReleased(p *dewpond.BytePool, to chan dewpond.Lease) {
	l := p.Lease(10)
	to <- l
	l.Release() // want `the lease is released, but was handed on at a.go:\d+:\d+: Retain makes another owner \(lease\)`
}

func sentAnOwner(p *dewpond.BytePool, to chan dewpond.Lease) {
	l := p.Lease(10)
	to <- l.Retain()
	l.Release()
}

func sentAndWaited(p *dewpond.BytePool, to chan dewpond.Lease, done chan bool) {
	l := p.Lease(10)
	to <- l
	<-done
	l.Release()
}

type queue struct{ all []dewpond.Lease }

func (q *queue) push(l dewpond.Lease) { q.all = append(q.all, l) }

func queuedAndReleased(p *dewpond.BytePool, q *queue) {
	l := p.Lease(10)
	q.push(l)
	l.Release() // want `the lease is released, but was handed on`
}

func returnedAndReleased(p *dewpond.BytePool) dewpond.Lease {
	l := p.Lease(10)
	defer l.Release()
	return l // want `the lease is returned, but the deferred Release at a.go:\d+:\d+ ends it`
}
