// Package wrap has a pool behind functions, as most programs have.
package wrap

import (
	"bytes"
	"sync"
)

var pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// Acquire gets.
func Acquire() *bytes.Buffer { return pool.Get().(*bytes.Buffer) }

// Release puts back what is not nil.
func Release(b *bytes.Buffer) {
	if b != nil {
		b.Reset()
		pool.Put(b)
	}
}

// ReleaseSmall keeps nothing large; its caller has given the buffer up all the same.
func ReleaseSmall(b *bytes.Buffer) {
	if b.Cap() > 1<<20 {
		return
	}
	pool.Put(b)
}

var blocks sync.Pool

// Block puts back a slice in a box.
func Block(b []byte) { blocks.Put(&b) }

// If puts back sometimes, for a reason of its own.
func If(b *bytes.Buffer, done bool) {
	if done {
		pool.Put(b)
	}
}

// Same returns what it gets.
func Same(b *bytes.Buffer) *bytes.Buffer {
	b.Reset()
	return b
}

// A Body owns a buffer.
type Body struct{ Buf *bytes.Buffer }

// Close puts the buffer back and goes on having it.
func (b *Body) Close() { Release(b.Buf) }

// Free puts the buffer back and forgets it.
func (b *Body) Free() {
	Release(b.Buf)
	b.Buf = nil
}

// Pool is an interface that says what it does.
type Pool interface {
	//poolvet:gets
	Take() *bytes.Buffer
	//poolvet:puts b
	Give(b *bytes.Buffer)
}

// Get gets a slice out of its box.
func Get() []byte {
	if v := blocks.Get(); v != nil {
		return *v.(*[]byte)
	}
	return make([]byte, 64)
}

// Upgrade returns the block, or a larger one for it.
func Upgrade(b []byte, n int) []byte {
	if cap(b) >= n {
		return b[:n]
	}
	Block(b)
	return Get()
}
