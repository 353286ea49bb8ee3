package dewhttp_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewhttp"
	"github.com/dewpond/dewpond/internal/turns"
)

// BenchmarkBody is a handler that reads a body of 64 KiB and makes ten small pieces, with
// the same from io.ReadAll and make in turn.
func BenchmarkBody(b *testing.B) {
	content := bytes.Repeat([]byte("0123456789abcdef"), 4<<10)
	run := func(h http.Handler) func() {
		return func() {
			r := httptest.NewRequest(http.MethodPost, "/", bytes.NewReader(content))
			h.ServeHTTP(discard{}, r)
		}
	}
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name()})
	ours := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := dewhttp.ReadBody(r)
		if err != nil || len(body) != len(content) {
			b.Error(len(body), err)
		}
		for scope := dewhttp.ScopeOf(r.Context()); len(body) > 60_000; body = body[500:] {
			w.Write(scope.Copy(body[:500]))
		}
	})
	theirs := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
		if err != nil || len(body) != len(content) {
			b.Error(len(body), err)
		}
		for ; len(body) > 60_000; body = body[500:] {
			w.Write(bytes.Clone(body[:500]))
		}
	})
	turns.Take(b, 500, run(dewhttp.Middleware(dewhttp.Options{Pool: pool})(ours)), run(theirs))
}

// BenchmarkBufferPool copies 1 MiB through a buffer, as a ReverseProxy does, with a new
// buffer for each copy in turn.
func BenchmarkBufferPool(b *testing.B) {
	content := make([]byte, 1<<20)
	pool := dewhttp.BufferPool{Pool: dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name()})}
	pass := func(buf []byte) {
		for r := bytes.NewReader(content); ; {
			n, err := r.Read(buf)
			if err != nil {
				return
			}
			discard{}.Write(buf[:n])
		}
	}
	turns.Take(b, 500,
		func() { buf := pool.Get(); pass(buf); pool.Put(buf) },
		func() { made = make([]byte, 32<<10); pass(made) })
}

var made []byte // keeps the control's buffer off the stack, as an io.Reader does

// A discard is a ResponseWriter that allocates nothing.
type discard struct{}

func (discard) Header() http.Header         { return http.Header{} }
func (discard) Write(b []byte) (int, error) { return len(b), nil }
func (discard) WriteHeader(int)             {}
