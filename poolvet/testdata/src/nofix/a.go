// Package nofix has findings without a fix: one would not compile, or would change what the
// code does.
package nofix

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/dewpond/dewpond"
	"testdata.example/src/wrap"
)

var pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func serve(b *bytes.Buffer) {
	fmt.Println(b.String())
	pool.Put(b)
}

// The callee does more than put back.
func doesMore(b *bytes.Buffer) {
	defer wrap.Release(b)
	serve(b) // want `b is put back here, and again by the deferred Release`
}

// On the other way it is another object.
func another(b, c *bytes.Buffer, bad bool) {
	pool.Put(b)
	if bad {
		b = c
	}
	pool.Put(b) // want `b is put back again after its Put`
}

// A Put behind the if would not be reached.
func leaves(p *dewpond.BytePool, b []byte) bool {
	p.Put(b)
	if b[0] == 1 { // want `b is used after its Put`
		return true
	}
	return false
}

// The variable is another block's behind the last use.
func reassigned(p *dewpond.BytePool, b, c []byte) []byte {
	p.Put(b)
	b, n := c, b[0] // want `b is used after its Put`
	b[0] = n
	return b
}

// The goroutine may use it later still.
func goes(p *dewpond.BytePool, b []byte, f func([]byte)) {
	p.Put(b)
	go f(b) // want `b is used after its Put`
}

// What keeps it needs it for longer.
func kept(p *dewpond.BytePool, b []byte, to chan []byte) {
	p.Put(b)
	to <- b // want `b is sent after its Put`
}

// A deferred Put in a loop waits for the end of the function.
func inALoop(p *dewpond.BytePool) (n int) {
	for range 3 {
		b := p.Get(64) // want `b is never put back`
		n += int(b[0])
	}
	return n
}

// Which function puts back is not known.
func wrapped() string {
	b := wrap.Acquire() // want `b is never put back`
	return b.String()
}

// A string is no []byte.
func reader() *bytes.Reader {
	b := wrap.Acquire()
	defer wrap.Release(b)
	return bytes.NewReader(b.Bytes()) // want `is returned, but the deferred Release`
}
