package missingput

import (
	"context"
	"errors"
	"io"
	"sync"
	"unsafe"

	"github.com/dewpond/dewpond"
	"testdata.example/src/wrap"
)

var errShort = errors.New("short")

// Early returns: https://github.com/syncthing/syncthing/pull/7409.
func early(p *dewpond.BytePool, r io.Reader) error {
	b := p.Get(64)
	if _, err := r.Read(b); err != nil {
		return err // want `b, got at a.go:\d+:12, is not put back on this way, as it is on another \(missingput\)`
	}
	p.Put(b)
	return nil
}

func mended(p *dewpond.BytePool, r io.Reader) error {
	b := p.Get(64)
	if _, err := r.Read(b); err != nil {
		p.Put(b)
		return err
	}
	p.Put(b)
	return nil
}

func deferred(p *dewpond.BytePool, r io.Reader) error {
	b := p.Get(64)
	defer p.Put(b)
	_, err := r.Read(b)
	return err
}

func nothingGot(ctx context.Context, p *dewpond.BytePool) error {
	b, err := p.GetContext(ctx, 64)
	if err != nil {
		return err
	}
	p.Put(b)
	return nil
}

func handedOn(p *dewpond.BytePool, to chan []byte, done bool) {
	b := p.Get(64)
	if done {
		p.Put(b)
		return
	}
	to <- b
}

func selected(p *dewpond.BytePool, to chan []byte) {
	b := p.Get(64)
	select {
	case to <- b:
	default:
		p.Put(b)
	}
}

type queue struct{ all [][]byte }

func (q *queue) push(b []byte) { q.all = append(q.all, b) }

func queued(p *dewpond.BytePool, q *queue, done bool) {
	b := p.Get(64)
	if done {
		p.Put(b)
		return
	}
	q.push(b)
}

func returned(p *dewpond.BytePool, n int) ([]byte, error) {
	b := p.Get(64)
	if n < 3 {
		p.Put(b)
		return nil, errShort
	}
	return b, nil
}

func ifNotNil(p *dewpond.BytePool, n int) {
	var b []byte
	if n > 3 {
		b = p.Get(n)
	}
	if b != nil {
		p.Put(b)
	}
}

var pool = sync.Pool{New: func() any { return new(int) }}

func ofSync(n int) bool {
	i := pool.Get().(*int)
	if *i == n {
		return true // want `i, got at a.go:\d+:\d+, is not put back on this way`
	}
	pool.Put(i)
	return false
}

func noneThere() *int {
	i, ok := pool.Get().(*int)
	if ok && *i > 3 {
		return i
	}
	if ok {
		pool.Put(i)
	}
	return new(int)
}

func typeSwitch() int {
	var i *int
	switch v := pool.Get().(type) {
	case nil:
		return 0
	case *int:
		i = v
	}
	defer func() { pool.Put(i) }()
	return *i
}

func marshal(m interface{ MarshalTo([]byte) error }) error {
	b := wrap.Get()
	if err := m.MarshalTo(b); err != nil {
		return err // want `b, got at a.go:\d+:\d+, is not put back on this way`
	}
	wrap.Block(b)
	return nil
}

// Never put back: https://github.com/panjf2000/gnet/pull/364.
func never(p *dewpond.BytePool, w io.Writer) error {
	b := p.Get(64) // want `b is never put back, and nothing else gets it \(missingput\)`
	n := copy(b, "x")
	_, err := w.Write(b[:n])
	return err
}

func neverOfSync() int {
	i := pool.Get().(*int) // want `i is never put back`
	return *i
}

func atTheEnd(p *dewpond.BytePool, done bool) {
	b := p.Get(64)
	if done {
		p.Put(b)
		return
	}
	b[0] = 1
} // want `b, got at a.go:\d+:\d+, is not put back on this way`

type owner struct{ b []byte }

func owned(p *dewpond.BytePool) *owner { return &owner{p.Get(64)} }

func given(p *dewpond.BytePool, f func([]byte)) {
	b := p.Get(64)
	f(b)
}

func givenToAMethod(p *dewpond.BytePool, q *queue) {
	b := p.Get(64)
	q.push(b)
}

func inAMap(p *dewpond.BytePool, all map[int][]byte) {
	all[1] = p.Get(64)
}

func toAnInterface(p *dewpond.BytePool, k interface{ Keep([]byte) }) {
	b := p.Get(64)
	k.Keep(b)
}

func stored(p *dewpond.BytePool, m *sync.Map) {
	b := p.Get(64)
	m.Store("b", b)
}

func inAClosure(p *dewpond.BytePool) func() byte {
	b := p.Get(64)
	return func() byte { return b[0] }
}

func endless(p *dewpond.BytePool, r io.Reader) {
	b := p.Get(64)
	for {
		r.Read(b)
	}
}

func tooLarge(p *dewpond.BytePool, r io.Reader) int {
	b := p.Get(64)
	n, _ := r.Read(b)
	if cap(b) < 1<<16 {
		p.Put(b)
	}
	return n
}

type request struct {
	body []byte
	id   int
}

func byValue(p *dewpond.BytePool, to chan request, bad bool) {
	b := p.Get(64)
	if bad {
		p.Put(b)
		return
	}
	to <- request{b, 1}
}

func bareAddress(p *dewpond.Pool[int], to func(unsafe.Pointer), bad bool) {
	i := p.Get()
	if bad {
		p.Put(i)
		return
	}
	to(unsafe.Pointer(i))
}

func toAGoroutine(p *dewpond.BytePool, bad bool) {
	b := p.Get(64)
	if bad {
		p.Put(b)
		return
	}
	work(p, b)
}

func work(p *dewpond.BytePool, b []byte) {
	go func() {
		b[0] = 1
		p.Put(b)
	}()
}

type event struct{ n int }

func (e *event) enabled() bool { return e != nil }

var events = sync.Pool{New: func() any { return new(event) }}

func newEvent(on bool) *event {
	if !on {
		return nil
	}
	return events.Get().(*event)
}

func (e *event) send() { events.Put(e) }

func asksFirst(on bool) {
	e := newEvent(on)
	if e.enabled() {
		e.n++
		e.send()
	}
}

func mayFail(p *dewpond.BytePool, fail bool) ([]byte, error) {
	if fail {
		return nil, errShort
	}
	return p.Get(64), nil
}

func nothingGotInALoop(p *dewpond.BytePool, stop func() bool, fail bool) {
	for {
		if stop() {
			return
		}
		b, err := mayFail(p, fail)
		if err != nil {
			continue
		}
		p.Put(b)
	}
}

func nothingGotBesideADefer(p *dewpond.BytePool, fail bool) (n int, err error) {
	b, err := mayFail(p, fail)
	if err != nil {
		if fail {
			return 0, errShort
		}
		return 0, err
	}
	defer p.Put(b)
	return len(b), nil
}

func writtenByAClosure(p *dewpond.BytePool, to chan []byte) {
	all := p.Get(64)[:0]
	add := func(b byte) { all = append(all, b) }
	add(1)
	to <- all
}

type closer struct {
	closed bool
	wait   func()
}

func (c *closer) close() { c.closed = true }

func (c *closer) take(p *dewpond.BytePool) []byte {
	c.wait()
	return p.Get(64)
}

// The Get may have changed what was tested before it.
func (c *closer) closedMeanwhile(p *dewpond.BytePool) bool {
	if c.closed {
		return false
	}
	b := c.take(p)
	if c.closed {
		return false // want `b, got at a.go:\d+:\d+, is not put back on this way`
	}
	p.Put(b)
	return true
}

func copiedWhole(to *request) {
	r, ok := requests.Get().(*request)
	if ok {
		*to = *r
	}
}

var requests sync.Pool

type hasher struct{ sums []int }

var hashers = sync.Pool{New: func() any { return new(hasher) }}

func (h *hasher) sum(of *request) *request { return &request{id: len(h.sums) + of.id} }

func (h *hasher) self(bool) *hasher { return h }

// What a method of the object returns is another thing, unless it is of the object's type.
func hashed(of *request) int {
	h := hashers.Get().(*hasher) // want `h is never put back`
	return h.sum(of).id
}

func hashedBySelf() *hasher {
	h := hashers.Get().(*hasher)
	return h.self(true)
}
