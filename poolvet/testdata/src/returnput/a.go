package returnput

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"

	"testdata.example/src/wrap"
)

// The shape of https://github.com/mozilla-services/go-syncstorage/pull/148 and of resty 2.10.0.
func bytesReturned() []byte {
	b := wrap.Acquire()
	defer wrap.Release(b)
	b.WriteString("x")
	return b.Bytes() // want `b.Bytes\(\) is returned, but the deferred Release at a.go:16:2 puts b back \(returnput\); return bytes.Clone\(b.Bytes\(\)\), or let the caller put it back`
}

func withError(v any) ([]byte, error) {
	b := wrap.Acquire()
	defer wrap.Release(b)
	if _, err := fmt.Fprint(b, v); err != nil {
		return b.Bytes(), err
	}
	if b.Len() == 0 {
		return b.Bytes(), errors.New("nothing")
	}
	return b.Bytes(), nil // want `b.Bytes\(\) is returned`
}

func copied() ([]byte, string) {
	b := wrap.Acquire()
	defer wrap.Release(b)
	b.WriteString("x")
	if b.Len() > 3 {
		return append([]byte(nil), b.Bytes()...), string(b.Bytes())
	}
	return bytes.Clone(b.Bytes()), b.String()
}

func captured() (p []byte) {
	b := wrap.Acquire()
	defer func() { wrap.Release(b) }()
	b.WriteString("x")
	p = b.Bytes()
	return p // want `p is returned`
}

// Guarded by the size, as fmt does: a Put.
func guardedBySize() []byte {
	b := wrap.Acquire()
	defer func() {
		if b.Cap() < 1<<16 {
			wrap.Release(b)
		}
	}()
	b.WriteString("x")
	return b.Bytes() // want `b.Bytes\(\) is returned`
}

func guardedByError() (p []byte, err error) {
	b := wrap.Acquire()
	defer func() {
		if err != nil {
			wrap.Release(b)
		}
	}()
	_, err = b.ReadFrom(nil)
	return b.Bytes(), err
}

// A reader over a pooled buffer: https://github.com/darkweak/storages/issues/47.
func reader() io.Reader {
	b := wrap.Acquire()
	defer wrap.Release(b)
	b.WriteString("x")
	return bytes.NewReader(b.Bytes()) // want `bytes.NewReader\(b.Bytes\(\)\) is returned`
}

func sent(to chan<- *bytes.Buffer) {
	b := wrap.Acquire()
	defer wrap.Release(b)
	b.WriteString("x")
	to <- b // want `b is sent, but the deferred Release`
}

type holder struct{ last []byte }

func (h *holder) stored() {
	b := wrap.Acquire()
	defer wrap.Release(b)
	b.WriteString("x")
	h.last = b.Bytes() // want `b is stored in what outlives the call`
}

func (h *holder) lent() {
	b := wrap.Acquire()
	defer wrap.Release(b)
	h.last = b.Bytes()
	fmt.Println(h.last)
	h.last = nil
}

var literal = func() []byte {
	b := wrap.Acquire()
	defer wrap.Release(b)
	b.WriteString("x")
	return b.Bytes() // want `b.Bytes\(\) is returned`
}

type writer struct{ out bytes.Buffer }

var writers = sync.Pool{New: func() any { return new(writer) }}

func replaced(dst []byte) []byte {
	w := writers.Get().(*writer)
	w.out = *bytes.NewBuffer(dst)
	defer func() {
		w.out = *bytes.NewBuffer(nil)
		writers.Put(w)
	}()
	w.out.WriteString("x")
	return w.out.Bytes()
}
