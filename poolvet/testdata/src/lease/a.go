package lease

import "github.com/dewpond/dewpond"

func late(p *dewpond.BytePool) byte {
	l := p.Lease(10)
	b := l.Bytes()
	l.Release()
	return b[0] // want `a slice of the lease is used after Release at a.go:8:11 \(lease\)`
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
