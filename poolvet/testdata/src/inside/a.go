// Package inside has methods that return memory of their receiver.
package inside

import (
	"strconv"
	"sync"
)

// A text is written, read and used again.
type text struct {
	b    []byte
	line *text
	all  []byte
}

func (t *text) reset()         { t.b = t.b[:0] }
func (t *text) bytes() []byte  { return t.b }
func (t *text) String() string { return string(t.b) }
func (t *text) tail() []byte   { return t.bytes()[1:] }
func (t *text) digits(n int)   { t.b = strconv.AppendInt(t.b, int64(n), 10) }

// detach lets the caller have what was collected.
func (t *text) detach() []byte { return t.all }

func (t *text) collect(n int) {
	t.all = append(t.all[:0], make([]byte, n)...)
}

var texts = sync.Pool{New: func() any { return new(text) }}

func take() *text { return texts.Get().(*text) }

func give(t *text) {
	t.reset()
	t.all = nil
	texts.Put(t)
}

func returned(n int) []byte {
	t := take()
	defer give(t)
	t.digits(n)
	return t.bytes() // want `t.bytes\(\) is returned, but the deferred give at a.go:\d+:\d+ puts t back \(returnput\); return bytes.Clone\(t.bytes\(\)\), or let the caller put it back`
}

func deeper(n int) []byte {
	t := take()
	defer give(t)
	t.digits(n)
	return t.tail() // want `t.tail\(\) is returned, but the deferred give`
}

func read(n int) byte {
	t := take()
	t.digits(n)
	b := t.bytes()
	give(t)
	return b[0] // want `t is used after its Put`
}

func fieldRead(n int) byte {
	t := take()
	t.digits(n)
	b := t.b
	give(t)
	return b[0] // want `t is used after its Put`
}

func asString(n int) string {
	t := take()
	defer give(t)
	t.digits(n)
	return t.String()
}

func asCopy(n int) []byte {
	t := take()
	defer give(t)
	t.digits(n)
	return append([]byte(nil), t.bytes()...)
}

// What is released before the Put is the caller's.
func detached(n int) []byte {
	t := take()
	defer give(t)
	t.collect(n)
	return t.detach()
}
