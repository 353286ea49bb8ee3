package useafterput

import (
	"bytes"
	"errors"
	"sync"
	"unsafe"

	"testdata.example/src/wrap"
)

var pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

type conn struct {
	buf *bytes.Buffer
	err error
	rw  interface{ Close() error }
}

func direct() {
	b := pool.Get().(*bytes.Buffer)
	pool.Put(b)
	b.Reset() // want `b is used after its Put at a.go:22:10 \(useafterput\)`
}

func wrapped() {
	b := wrap.Acquire()
	wrap.Release(b)
	b.Reset() // want `b is used after its Put`
}

func tooLargeIsAPut(b *bytes.Buffer) {
	wrap.ReleaseSmall(b)
	b.Reset() // want `b is used after its Put`
}

func guardedByAFlag(b *bytes.Buffer, done bool) {
	wrap.If(b, done)
	b.Reset()
}

func annotated(p wrap.Pool) {
	b := p.Take()
	p.Give(b)
	b.Reset() // want `b is used after its Put`
}

func sameObject(b *bytes.Buffer) {
	c := wrap.Same(b)
	wrap.Release(c)
	b.Reset() // want `c is used after its Put`
}

func bytesOf(b *bytes.Buffer) byte {
	p := b.Bytes()
	wrap.Release(b)
	return p[0] // want `b is used after its Put`
}

func field(c *conn) {
	wrap.Release(c.buf)
	c.buf.Reset() // want `c.buf is used after its Put`
}

func fieldForgotten(c *conn) {
	wrap.Release(c.buf)
	c.buf = new(bytes.Buffer)
	c.buf.Reset()
}

// The bug of https://github.com/thanos-io/thanos/issues/4792.
func capAfterPut(b *[]byte) int {
	*b = (*b)[:0]
	pool.Put(b)
	return cap(*b) // want `b is used after its Put`
}

func capBefore(b *[]byte) int {
	*b = (*b)[:0]
	n := cap(*b)
	pool.Put(b)
	return n
}

func boxed(b []byte) {
	wrap.Block(b)
	b[0] = 1 // want `b is written after its Put`
}

func headerAlone(b []byte) int {
	wrap.Block(b)
	return len(b) + cap(b)
}

func otherWay(b []byte, done bool) {
	if done {
		wrap.Block(b)
		return
	}
	b[0] = 1
}

func sameCondition(b []byte, done bool) {
	if done {
		wrap.Block(b)
	}
	if !done {
		b[0] = 1
	}
	if done {
		b[0] = 2 // want `b is written after its Put`
	}
}

func flag(b []byte, n int) {
	put := false
	if n > 10 {
		wrap.Block(b)
		put = true
	}
	if !put {
		b[0] = 1
	}
}

func anew() {
	var b *bytes.Buffer
	for i := range 10 {
		if b == nil {
			b = wrap.Acquire()
		}
		b.WriteByte(byte(i))
		if i%3 == 0 {
			wrap.Release(b)
			b = nil
		}
	}
	if b != nil {
		wrap.Release(b)
	}
}

func pointedTo(c *conn) {
	rw := c.rw
	pool.Put(c)
	rw.Close()
}

func pointedToLate(c *conn) {
	pool.Put(c)
	c.rw.Close() // want `c is used after its Put`
}

func copied(b *bytes.Buffer) string {
	s := b.String()
	wrap.Release(b)
	return s
}

// Strings made without a copy: https://github.com/grafana/tempo/pull/5501.
func notCopied(b []byte) string {
	s := unsafe.String(unsafe.SliceData(b), len(b))
	wrap.Block(b)
	return s // want `b is returned after its Put`
}

func castString(b []byte) string {
	s := *(*string)(unsafe.Pointer(&b))
	wrap.Block(b)
	return s // want `b is returned after its Put`
}

func besideAnError(b []byte, err error) ([]byte, error) {
	if err != nil {
		wrap.Block(b)
		return b, err
	}
	wrap.Block(b)
	return b, nil // want `b is returned after its Put`
}

func besideANewError(b []byte) ([]byte, error) {
	wrap.Block(b)
	return b, errors.New("no")
}

var literal = func(b *bytes.Buffer) {
	wrap.Release(b)
	b.Reset() // want `b is used after its Put`
}

type kept struct{ p []byte }

// A slice that is kept by what was built from the object:
// https://github.com/blevesearch/bleve/issues/847.
func builtFrom(b *bytes.Buffer) *kept {
	k := newKept(b.Bytes())
	wrap.Release(b)
	return k // want `b is returned after its Put`
}

func builtFromACopy(b *bytes.Buffer) *kept {
	k := newKept(bytes.Clone(b.Bytes()))
	wrap.Release(b)
	return k
}

func newKept(p []byte) *kept { return &kept{p: p} }

type box[T any] struct{ pool sync.Pool }

func (x *box[T]) give(v *T) { x.pool.Put(v) }

func generic(x *box[conn], c *conn) {
	x.give(c)
	c.err = nil // want `c is written after its Put`
}

func overFunction(seq func(yield func(int) bool)) {
	b := wrap.Acquire()
	for range seq {
		b.WriteByte(1)
	}
	wrap.Release(b)
}

func upgraded(b []byte, n int) {
	b = wrap.Upgrade(b, n)
	b[0] = 1
	wrap.Block(b)
}

func upgradedOld(b []byte, n int) {
	c := wrap.Upgrade(b, n)
	b[0] = 1 // want `b is written after its Put`
	wrap.Block(c)
}
