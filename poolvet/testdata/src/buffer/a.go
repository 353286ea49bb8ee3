package buffer

import (
	"strconv"

	"github.com/dewpond/dewpond"
)

func late(p *dewpond.BytePool, more string) byte {
	b := p.Buffer()
	defer b.Release()
	b.WriteString("x")
	s := b.Bytes()
	b.WriteString(more)
	return s[0] // want `a slice of the buffer is used after write at a.go:14:15 \(buffer\)`
}

func released(p *dewpond.BytePool) []byte {
	b := p.Buffer()
	b.WriteString("x")
	s := b.Bytes()
	b.Release()
	return s // want `a slice of the buffer is returned after Release`
}

func deferred(p *dewpond.BytePool) []byte {
	b := p.Buffer()
	defer b.Release()
	b.WriteString("x")
	return b.Bytes() // want `a slice of the buffer is returned, but the deferred Release`
}

func available(p *dewpond.BytePool) string {
	b := p.Buffer()
	defer b.Release()
	for i := range 3 {
		b.Write(strconv.AppendInt(b.AvailableBuffer(), int64(i), 10))
	}
	return string(b.Bytes())
}
