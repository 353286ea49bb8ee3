// Package named has the shapes of bugs that were public, each beside the same code mended, with
// pools of dewpond so that named_test.go can run them under CheckAll.
package named

import (
	"bytes"
	"errors"
	"io"
	"sync"
	"unsafe"

	"github.com/dewpond/dewpond"
)

var errShort = errors.New("short")

// A second Put through a field and a wrapper's Close, on a retry:
// https://github.com/go-resty/resty/pull/745.
type body struct {
	pool *dewpond.BytePool
	buf  []byte
}

func (b *body) Close() { b.pool.Put(b.buf) }

func resty(p *dewpond.BytePool, retries int) {
	b := &body{p, p.Get(64)}
	defer b.Close()
	for range retries {
		p.Put(b.buf) // want `b.buf is put back here, and again by the deferred Close`
	}
}

func restyMended(p *dewpond.BytePool, retries int) {
	b := &body{p, p.Get(64)}
	defer b.Close()
	for range retries {
		b.buf[0] = 1
	}
}

// Early returns: https://github.com/syncthing/syncthing/pull/7409.
func syncthing(p *dewpond.BytePool, r io.Reader) error {
	b := p.Get(64)
	n, err := r.Read(b)
	if err != nil {
		return err // want `b, got at a.go:\d+:\d+, is not put back on this way, as it is on another`
	}
	if n < 3 {
		return errShort // want `b, got at a.go:\d+:\d+, is not put back on this way, as it is on another`
	}
	p.Put(b)
	return nil
}

func syncthingMended(p *dewpond.BytePool, r io.Reader) error {
	b := p.Get(64)
	defer p.Put(b)
	n, err := r.Read(b)
	if err != nil {
		return err
	}
	if n < 3 {
		return errShort
	}
	return nil
}

// The bytes of a pooled buffer are returned:
// https://github.com/mozilla-services/go-syncstorage/pull/148, and
// https://github.com/projectdiscovery/utils/pull/709.
func syncstorage(p *dewpond.BytePool, s string) []byte {
	b := p.Get(64)
	defer p.Put(b)
	n := copy(b, s)
	return b[:n] // want `b\[:n\] is returned, but the deferred Put`
}

func syncstorageMended(p *dewpond.BytePool, s string) []byte {
	b := p.Get(64)
	defer p.Put(b)
	n := copy(b, s)
	return bytes.Clone(b[:n])
}

// A reader over a pooled buffer is returned: https://github.com/darkweak/storages/issues/47.
func storages(p *dewpond.BytePool, s string) io.Reader {
	b := p.Get(64)
	defer p.Put(b)
	n := copy(b, s)
	return bytes.NewReader(b[:n]) // want `bytes.NewReader\(b\[:n\]\) is returned, but the deferred Put`
}

func storagesMended(p *dewpond.BytePool, s string) io.Reader {
	b := p.Get(64)
	defer p.Put(b)
	n := copy(b, s)
	return bytes.NewReader(bytes.Clone(b[:n]))
}

// The callee puts back, and so does the caller: https://github.com/gin-gonic/gin/issues/1230 and
// https://github.com/gin-gonic/gin/pull/1565.
func gin(p *dewpond.BytePool) {
	b := p.Get(64)
	serve(p, b)
	p.Put(b) // want `b is put back again after its Put`
}

func serve(p *dewpond.BytePool, b []byte) {
	b[0] = 1
	p.Put(b)
}

func ginMended(p *dewpond.BytePool) {
	b := p.Get(64)
	serve(p, b)
}

// An object is sent, then put back: https://github.com/xxddpac/go-flow/pull/6.
func goFlow(p *dewpond.BytePool, to chan<- []byte) {
	b := p.Get(64)
	b[0] = 1
	to <- b
	p.Put(b) // want `b is put back, but was sent at a.go:\d+:\d+, which may still use it`
}

func goFlowMended(p *dewpond.BytePool, to chan<- []byte) {
	b := p.Get(64)
	b[0] = 1
	to <- bytes.Clone(b)
	p.Put(b)
}

// A goroutine still has what is put back: https://github.com/vllm-project/aibrix/issues/2440.
func aibrix(p *dewpond.BytePool, done *sync.WaitGroup, turn <-chan bool) {
	b := p.Get(64)
	done.Add(1)
	go func() {
		defer done.Done()
		<-turn
		b[0] = 1
	}()
	p.Put(b) // want `b is put back, but was given to a goroutine at a.go:\d+:\d+, which may still use it`
}

func aibrixMended(p *dewpond.BytePool, done *sync.WaitGroup, turn <-chan bool) {
	b := p.Get(64)
	done.Add(1)
	go func() {
		defer done.Done()
		defer p.Put(b)
		<-turn
		b[0] = 1
	}()
}

// A slice is kept by what was built from the object: https://github.com/blevesearch/bleve/issues/847.
type term struct{ text []byte }

func newTerm(text []byte) *term { return &term{text} }

func bleve(p *dewpond.BytePool, s string) *term {
	b := p.Get(64)
	t := newTerm(b[:copy(b, s)])
	p.Put(b)
	return t // want `b is returned after its Put`
}

func bleveMended(p *dewpond.BytePool, s string) *term {
	b := p.Get(64)
	t := newTerm(bytes.Clone(b[:copy(b, s)]))
	p.Put(b)
	return t
}

// Never put back: https://github.com/panjf2000/gnet/pull/364.
func gnet(p *dewpond.BytePool, r io.Reader) (int, error) {
	b := p.Get(64) // want `b is never put back, and nothing else gets it`
	return r.Read(b)
}

func gnetMended(p *dewpond.BytePool, r io.Reader) (int, error) {
	b := p.Get(64)
	defer p.Put(b)
	return r.Read(b)
}

// Strings without a copy outlive their buffer: https://github.com/grafana/tempo/issues/5501 and
// https://github.com/grafana/pyroscope/pull/5116.
func tempo(p *dewpond.BytePool, s string) string {
	b := p.Get(64)
	name := unsafe.String(unsafe.SliceData(b), copy(b, s))
	p.Put(b)
	return name // want `b is returned after its Put`
}

func tempoMended(p *dewpond.BytePool, s string) string {
	b := p.Get(64)
	name := string(b[:copy(b, s)])
	p.Put(b)
	return name
}

// Kept by an object that was there before.
type labels struct{ names []string }

func (l *labels) add(b []byte) {
	l.names = append(l.names, unsafe.String(unsafe.SliceData(b), len(b)))
}

func pyroscope(p *dewpond.BytePool, l *labels, s string) {
	b := p.Get(64)
	l.add(b[:copy(b, s)])
	p.Put(b) // want `b is put back, but the call at a.go:\d+:\d+ has stored it in what outlives the call`
}

// A context is kept beyond its handler, which is a function value: not found.
// https://github.com/gin-gonic/gin/issues/4117 and https://github.com/gofiber/fiber/issues/4560.
type context struct{ body []byte }

func handled(p *dewpond.BytePool, handle func(*context)) {
	c := context{p.Get(64)}
	handle(&c)
	p.Put(c.body)
}

// What is parked holds memory of others until the next Get sets the field: not found.
// https://github.com/erigontech/erigon/pull/22410.
type decoder struct{ src []byte }

func (d *decoder) decode() int { return len(d.src) }

var decoders = sync.Pool{New: func() any { return new(decoder) }}

func erigon(src []byte) int {
	d := decoders.Get().(*decoder)
	d.src = src
	n := d.decode()
	decoders.Put(d)
	return n
}
