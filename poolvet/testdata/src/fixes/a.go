// Package fixes has findings with a fix: a.go.golden has them all applied.
package fixes

import (
	"bytes"
	"fmt"
	"sync"

	"github.com/dewpond/dewpond"
	"testdata.example/src/wrap"
)

var pool = sync.Pool{New: func() any { return new(bytes.Buffer) }}

func cloned(v any) ([]byte, error) {
	b := wrap.Acquire()
	defer wrap.Release(b)
	if _, err := fmt.Fprint(b, v); err != nil {
		return nil, err
	}
	return b.Bytes(), nil // want `b.Bytes\(\) is returned`
}

func deferredToo(b *bytes.Buffer, bad bool) {
	defer pool.Put(b)
	if bad {
		b.Reset()
		pool.Put(b) // want `b is put back here, and again by the deferred Put`
	}
}

func captured(bad bool) {
	b := wrap.Acquire()
	defer func() { wrap.Release(b) }()
	if bad {
		wrap.Release(b) // want `b is put back here, and again by the deferred function`
		return
	}
	b.WriteByte(1)
}

func twice(b *bytes.Buffer) {
	pool.Put(b)
	fmt.Println("done")
	wrap.Release(b) // want `b is put back again after its Put`
}

func inACase(b *bytes.Buffer, n int) {
	defer pool.Put(b)
	switch n {
	case 1:
		pool.Put(b) // want `b is put back here, and again by the deferred Put`
	default:
		pool.Put(b) // want `b is put back here, and again by the deferred Put`
	}
}

func deferredLater(b *bytes.Buffer) {
	pool.Put(b)
	defer pool.Put(b) // want `b is put back again by this deferred call after its Put`
	fmt.Println("done")
}

func never(p *dewpond.BytePool) byte {
	b := p.Get(64) // want `b is never put back, and nothing else gets it \(missingput\)`
	b[0]++
	return b[0]
}

type server struct{ objects *dewpond.Pool[bytes.Buffer] }

func (s *server) neverInAField(v any) string {
	b := s.objects.Get() // want `b is never put back`
	fmt.Fprint(b, v)
	return b.String()
}

func neverOfSync(v any) string {
	b := pool.Get().(*bytes.Buffer) // want `b is never put back`
	b.Reset()
	fmt.Fprint(b, v)
	return b.String()
}

func behind(p *dewpond.BytePool) int {
	b := p.Get(64)
	p.Put(b)
	n := copy(b, "x") // want `b is used after its Put`
	for range b {     // a header alone
		n++
	}
	if n > 3 {
		b[0] = 1
	}
	n++
	return n
}

func deferredInstead(p *dewpond.BytePool) byte {
	b := p.Get(64)
	b[0] = 3
	p.Put(b)
	return b[0] // want `b is used after its Put`
}
