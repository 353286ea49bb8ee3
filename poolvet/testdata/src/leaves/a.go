// Package leaves has what leaves a function within something else, although it was put back.
package leaves

import (
	"bytes"
	"io"

	"github.com/dewpond/dewpond"
)

type answer struct {
	body []byte
	more []answer
	r    io.Reader
}

func get(p *dewpond.BytePool) []byte {
	b := p.Get(1)
	b[0] = 'x'
	return b
}

func pointer(p *dewpond.BytePool) *answer {
	b := get(p)
	defer p.Put(b)
	return &answer{body: b} // want `b is returned, but the deferred Put at a.go:\d+:\d+ puts b back \(returnput\); let the caller put it back`
}

func value(p *dewpond.BytePool) answer {
	b := get(p)
	defer p.Put(b)
	return answer{body: b[:1]} // want `b is returned, but the deferred Put`
}

func nested(p *dewpond.BytePool) *answer {
	b := get(p)
	defer p.Put(b)
	return &answer{more: []answer{{body: b}}} // want `b is returned, but the deferred Put`
}

func field(p *dewpond.BytePool) *answer {
	b := get(p)
	defer p.Put(b)
	a := new(answer)
	a.body = b
	return a // want `a is returned, but the deferred Put`
}

func reader(p *dewpond.BytePool) *answer {
	b := get(p)
	defer p.Put(b)
	return &answer{r: bytes.NewReader(b)} // want `b is returned, but the deferred Put`
}

func slice(p *dewpond.BytePool) [][]byte {
	b := get(p)
	defer p.Put(b)
	return [][]byte{b} // want `b is returned, but the deferred Put`
}

func appended(p *dewpond.BytePool, all [][]byte) [][]byte {
	b := get(p)
	defer p.Put(b)
	return append(all, b) // want `append\(all, b\) is returned, but the deferred Put`
}

func element(p *dewpond.BytePool) [][]byte {
	all := make([][]byte, 1)
	b := get(p)
	defer p.Put(b)
	all[0] = b
	return all // want `all is returned, but the deferred Put`
}

func table(p *dewpond.BytePool) map[string][]byte {
	b := get(p)
	defer p.Put(b)
	return map[string][]byte{"x": b} // want `b is returned, but the deferred Put`
}

func function(p *dewpond.BytePool) func() byte {
	b := get(p)
	defer p.Put(b)
	return func() byte { return b[0] } // want `b is returned, but the deferred Put`
}

func method(p *dewpond.BytePool) func() string {
	b := get(p)
	defer p.Put(b)
	return bytes.NewBuffer(b).String // want `is returned, but the deferred Put`
}

func intoMap(p *dewpond.BytePool, m map[string][]byte) {
	b := get(p)
	defer p.Put(b)
	m["x"] = b // want `b is stored in what outlives the call, but the deferred Put`
}

func intoSlice(p *dewpond.BytePool, all *[][]byte) {
	b := get(p)
	defer p.Put(b)
	*all = append(*all, b) // want `b is stored in what outlives the call, but the deferred Put`
}

func intoField(p *dewpond.BytePool, a *answer) {
	b := get(p)
	defer p.Put(b)
	a.r = io.NopCloser(bytes.NewReader(b)) // want `b is stored in what outlives the call, but the deferred Put`
}

func inField(p *dewpond.BytePool, a *answer) {
	b := get(p)
	a.body = b
	p.Put(b) // want `b is put back, but was stored at a.go:\d+:\d+ in what outlives the call \(useafterput\)`
}

func sent(p *dewpond.BytePool, to chan answer) {
	b := get(p)
	defer p.Put(b)
	to <- answer{body: b} // want `b is sent, but the deferred Put`
}

// rows is the shape of https://github.com/VictoriaMetrics/VictoriaMetrics/issues/11115.
func rows(p *dewpond.BytePool, n int) (all [][]byte) {
	for range n {
		b := get(p)
		all = append(all, b[:1])
		p.Put(b)
	}
	return all // want `b is returned after its Put`
}

func literalBefore(p *dewpond.BytePool) *answer {
	b := get(p)
	a := &answer{body: b}
	p.Put(b)
	return a // want `b is returned after its Put`
}

func take(p *dewpond.BytePool) ([]byte, func()) {
	b := get(p)
	return b, func() { p.Put(b) }
}

func releasedLater(p *dewpond.BytePool) []byte {
	b, release := take(p)
	defer release()
	return b[:1] // want `b\[:1\] is returned, but the deferred function at a.go:\d+:\d+ puts b back`
}

func releasedBefore(p *dewpond.BytePool) byte {
	b, release := take(p)
	release()
	return b[0] // want `b is used after its Put`
}

func releasedTwice(p *dewpond.BytePool) {
	b, release := take(p)
	defer release()
	if b[0] == 'x' {
		release() // want `b is put back here, and again by the deferred function`
	}
}
