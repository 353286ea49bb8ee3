package doubleput

import (
	"bytes"
	"sync"

	"testdata.example/src/wrap"
)

var pool sync.Pool

func twice(b *bytes.Buffer) {
	pool.Put(b)
	pool.Put(b) // want `b is put back again after its Put at a.go:13:10 \(doubleput\)`
}

func deferredToo(b *bytes.Buffer, bad bool) {
	defer pool.Put(b)
	if bad {
		pool.Put(b) // want `b is put back here, and again by the deferred Put at a.go:18:2 \(doubleput\)`
	}
}

func deferredLater(b *bytes.Buffer) {
	pool.Put(b)
	defer pool.Put(b) // want `b is put back again by this deferred call after its Put`
}

func loop(b *bytes.Buffer) {
	for range 3 {
		wrap.Release(b) // want `b is put back again on the next turn of the loop`
	}
}

func eachAnew() {
	for range 3 {
		b := wrap.Acquire()
		wrap.Release(b)
	}
}

// The callee puts it back, and so does the caller: https://github.com/gin-gonic/gin/issues/1230.
func calleeAndCaller(b *bytes.Buffer) {
	serve(b)
	pool.Put(b) // want `b is put back again after its Put`
}

func serve(b *bytes.Buffer) {
	b.Reset()
	pool.Put(b)
}

// Through a field and a wrapper's Close: https://github.com/go-resty/resty/pull/745.
func throughClose(b *wrap.Body) {
	defer b.Close()
	wrap.Release(b.Buf) // want `put back here, and again by the deferred Close`
}

func throughFree(b *wrap.Body) {
	b.Free()
	b.Free()
}

func closedTwice(b *wrap.Body) {
	b.Close()
	b.Close() // want `put back again after its Put`
}

func captured(bad bool) {
	b := wrap.Acquire()
	defer func() { wrap.Release(b) }()
	if bad {
		wrap.Release(b) // want `b is put back here, and again by the deferred function`
	}
}

func capturedForgotten(bad bool) {
	b := wrap.Acquire()
	defer func() {
		if b != nil {
			wrap.Release(b)
		}
	}()
	if bad {
		wrap.Release(b)
		b = nil
	}
}

func unlessDone() (err error) {
	b := wrap.Acquire()
	done := false
	defer func() {
		if !done {
			wrap.Release(b)
		}
	}()
	wrap.Release(b)
	done = true
	return nil
}

func branches(b *bytes.Buffer, n int) {
	switch n {
	case 1:
		wrap.Release(b)
		return
	case 2:
		wrap.Release(b)
	default:
		wrap.Release(b)
	}
}

type node struct {
	buf  *bytes.Buffer
	next *node
}

func (n *node) free() { wrap.Release(n.buf) }

func list(head *node) {
	for n := head; n != nil; {
		next := n.next
		n.free()
		n = next
	}
}

var headers sync.Pool

func boxAndBlock(b *[]byte) {
	wrap.Block(*b)
	headers.Put(b)
}

func noObjects(n int) {
	for range 3 {
		pool.Put("c")
		pool.Put(n)
	}
}

// A Put of what is not too large empties the object first: that is no guard against a second call.
type line struct{ text []byte }

var lines = sync.Pool{New: func() any { return new(line) }}

func (l *line) free() {
	if cap(l.text) > 1<<16 {
		return
	}
	l.text = l.text[:0]
	lines.Put(l)
}

func freedTwice() {
	l := lines.Get().(*line)
	l.free()
	l.free() // want `l is put back again after its Put`
}
