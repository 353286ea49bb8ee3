// Package deferput has deferred Puts that come too late, or that have another slice than the last one.
package deferput

import (
	"io"
	"sync"

	"github.com/dewpond/dewpond"
)

var boxes = sync.Pool{New: func() any { b := make([]byte, 0, 64); return &b }}

func loop(w io.Writer, all [][]byte) {
	for _, data := range all {
		p := boxes.Get().(*[]byte)
		defer boxes.Put(p) // want `p is put back when the function returns, and not on each turn of this loop \(deferput\)`
		*p = append((*p)[:0], data...)
		w.Write(*p)
	}
}

func inLiteral(w io.Writer, all [][]byte) {
	for _, data := range all {
		p := boxes.Get().(*[]byte)
		defer func() { // want `p is put back when the function returns`
			*p = (*p)[:0]
			boxes.Put(p)
		}()
		*p = append(*p, data...)
		w.Write(*p)
	}
}

func forever(r io.Reader) error {
	for {
		b := blocks.Get(512)
		defer blocks.Put(b) // want `b is put back when the function returns`
		if _, err := r.Read(b); err != nil {
			return err
		}
	}
}

func get() *[]byte  { return boxes.Get().(*[]byte) }
func put(p *[]byte) { boxes.Put(p) }

func wrapped(w io.Writer, all [][]byte) {
	for _, data := range all {
		p := get()
		defer put(p) // want `p is put back when the function returns`
		*p = append((*p)[:0], data...)
		w.Write(*p)
	}
}

var raw = sync.Pool{New: func() any { return make([]byte, 0, 64) }}

func seal(w io.Writer, data []byte) {
	b := raw.Get().([]byte)[:0]
	defer raw.Put(b)
	b = append(b, data...) // want `b may move here: the deferred Put at a.go:\d+:\d+ has the slice of before, and what has grown is lost \(deferput\)`
	w.Write(b)
}

func piece(w io.Writer, all []string) {
	b := raw.Get().([]byte)
	defer raw.Put(b)
	for _, s := range all {
		b = append(b, '"') // want `b may move here`
		b = append(b, s...)
	}
	w.Write(b)
}

var blocks dewpond.BytePool

func quote(b []byte, s string) []byte {
	for _, c := range s {
		b = append(b, string(c)...)
	}
	return b
}

func inHelper(w io.Writer, data string) {
	b := raw.Get().([]byte)[:0]
	defer raw.Put(b)
	b = quote(b, data) // want `b may move here`
	w.Write(b)
}

// What follows is right.

func collected(w io.Writer, all [][]byte) {
	var ps []*[]byte
	for range all {
		p := boxes.Get().(*[]byte)
		defer boxes.Put(p)
		ps = append(ps, p)
	}
	for i, p := range ps {
		w.Write(append(*p, all[i]...))
	}
}

func inAnArray(w io.Writer) {
	var ps [32]*[]byte
	for i := range ps {
		ps[i] = boxes.Get().(*[]byte)
		defer boxes.Put(ps[i])
	}
	w.Write(*ps[0])
}

func oneInAnArray(w io.Writer, n int) {
	ps := make([]*[]byte, n)
	for i := range n {
		p := boxes.Get().(*[]byte)
		defer boxes.Put(p)
		ps[i] = p
	}
	w.Write(*ps[0])
}

func sent(all [][]byte, to chan<- *[]byte, done <-chan struct{}) {
	for _, data := range all {
		p := boxes.Get().(*[]byte)
		defer boxes.Put(p)
		*p = append((*p)[:0], data...)
		to <- p
	}
	<-done
}

func together(all [][]byte, f func([]byte)) {
	var wg sync.WaitGroup
	defer wg.Wait()
	for _, data := range all {
		p := boxes.Get().(*[]byte)
		defer boxes.Put(p)
		*p = append((*p)[:0], data...)
		wg.Go(func() { f(*p) })
	}
	wg.Wait()
}

func last(r io.Reader) (n int) {
	var before []byte
	for {
		b := blocks.Get(512)
		defer blocks.Put(b)
		if _, err := r.Read(b); err != nil {
			return n
		}
		if before != nil && before[0] == b[0] {
			n++
		}
		before = b
	}
}

func afterwards(r io.Reader, w io.Writer) {
	var b []byte
	for {
		b = blocks.Get(512)
		defer blocks.Put(b)
		if _, err := r.Read(b); err != nil {
			break
		}
	}
	w.Write(b)
}

func once(r io.Reader) (int, error) {
	for {
		b := blocks.Get(512)
		defer blocks.Put(b)
		return r.Read(b)
	}
}

func tries(r io.Reader) (err error) {
	for range 3 {
		b := blocks.Get(512)
		defer blocks.Put(b)
		if _, err = r.Read(b); err == nil {
			break
		}
	}
	return err
}

func ownFunction(w io.Writer, all [][]byte) {
	for _, data := range all {
		func() {
			p := boxes.Get().(*[]byte)
			defer boxes.Put(p)
			*p = append((*p)[:0], data...)
			w.Write(*p)
		}()
	}
}

func before(w io.Writer, all [][]byte) {
	p := boxes.Get().(*[]byte)
	defer boxes.Put(p)
	for _, data := range all {
		*p = append((*p)[:0], data...)
		w.Write(*p)
	}
}

type list struct{ ps []*[]byte }

func (l *list) add(p *[]byte) { l.ps = append(l.ps, p) }

func added(w io.Writer, n int) {
	var l list
	for range n {
		p := boxes.Get().(*[]byte)
		defer boxes.Put(p)
		l.add(p)
	}
	w.Write(*l.ps[0])
}

func lastValue(w io.Writer, data []byte) {
	b := raw.Get().([]byte)[:0]
	defer func() { raw.Put(b) }()
	b = append(b, data...)
	w.Write(b)
}

func pointed(w io.Writer, data []byte) {
	b := (*boxes.Get().(*[]byte))[:0]
	defer boxes.Put(&b)
	b = append(b, data...)
	w.Write(b)
}

func behind(w io.Writer, data []byte) {
	b := raw.Get().([]byte)[:0]
	b = append(b, data...)
	defer raw.Put(b)
	w.Write(b)
}

func fits(w io.Writer, data []byte) {
	b := raw.Get().([]byte)[:0]
	defer raw.Put(b)
	if len(data) > cap(b) {
		w.Write(data)
		return
	}
	b = append(b, data...)
	w.Write(b)
}

// A pool of dewpond wants its block back, and not what append has moved it to.
func ofDewpond(w io.Writer, data string) {
	b := blocks.Get(64)[:0]
	defer blocks.Put(b)
	b = append(b, data...)
	w.Write(b)
}

func asked(w io.Writer, data []byte) {
	b := blocks.Get(len(data) + 2)[:0]
	defer blocks.Put(b)
	b = append(b, data...)
	w.Write(append(b, "\r\n"...))
}

func bounded(w io.Writer, kind byte) {
	b := raw.Get().([]byte)[:0]
	defer raw.Put(b)
	b = append(b, kind, 0, 1)
	b = append(b, "end"...)
	w.Write(b)
}

func another(w io.Writer, data []byte) {
	b := raw.Get().([]byte)[:0]
	defer raw.Put(b)
	var copied []byte
	copied = append(copied, data...)
	copied = append(copied, b...)
	w.Write(copied)
}

func source(w io.Writer) []byte {
	b := raw.Get().([]byte)
	defer raw.Put(b)
	return append([]byte(nil), b...)
}
