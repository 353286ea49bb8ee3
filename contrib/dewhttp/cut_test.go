package dewhttp_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewhttp"
	"github.com/dewpond/dewpond/dewtest"
)

// A body that ends too early is an error, for ReadBody and for what reads the request's Body. One
// that a handler in front has decoded is shorter than its Content-Length at times.
func TestBodyIsCutOff(t *testing.T) {
	const text = `{"id":1}`
	var packed bytes.Buffer
	pack := gzip.NewWriter(&packed)
	io.WriteString(pack, text)
	pack.Close()
	unpack := func(r *http.Request) {
		unpacked, err := gzip.NewReader(r.Body)
		if err != nil {
			t.Error(err)
		}
		r.Body = unpacked
	}

	type request = *http.Request
	for _, tt := range []struct {
		name   string
		body   string
		change func(r request, end func()) // before Middleware
		inside func(r request)             // between Middleware and the handler
		want   error
	}{
		{name: "whole", body: text},
		{name: "whole, and the context has ended", body: text, change: func(_ request, end func()) { end() }},
		{name: "short", body: text, change: func(r request, _ func()) { r.ContentLength++ }, want: io.ErrUnexpectedEOF},
		{name: "short, and the context has ended", body: text, change: func(r request, end func()) { r.ContentLength = 5000; end() }, want: io.ErrUnexpectedEOF},
		{name: "nothing came", change: func(r request, _ func()) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("")), 1 }, want: io.ErrUnexpectedEOF},
		{name: "no length", body: text, change: func(r request, _ func()) { r.ContentLength = -1 }},
		{name: "no length, and the context has ended", body: text, change: func(r request, end func()) { r.ContentLength = -1; end() }, want: context.Canceled},
		{name: "decoded before", body: packed.String(), change: func(r request, _ func()) { unpack(r) }},
		{name: "decoded before, and Content-Encoding was left", body: packed.String(), change: func(r request, _ func()) {
			unpack(r)
			r.Body = struct{ io.ReadCloser }{r.Body}
			r.Header.Set("Content-Encoding", "gzip")
		}},
		{name: "decoded inside", body: packed.String(), inside: unpack},
		{name: "short, and decoded inside", body: packed.String()[:packed.Len()-4], change: func(r request, _ func()) { r.ContentLength += 4 }, inside: unpack, want: io.ErrUnexpectedEOF},
	} {
		for _, full := range []dewhttp.WhenFull{dewhttp.Exceed, dewhttp.Wait, dewhttp.Refuse} {
			for _, direct := range []bool{false, true} {
				ctx, end := context.WithCancel(t.Context())
				r := httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(tt.body))
				if tt.change != nil {
					tt.change(r, end)
				}
				var got []byte
				var err error
				o := dewhttp.Options{Pool: dewtest.NewBytePool(t, dewpond.BytePoolOptions{}), WhenFull: full}
				dewhttp.Middleware(o)(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if tt.inside != nil {
						tt.inside(r)
					}
					if direct {
						got, err = io.ReadAll(r.Body)
					} else {
						got, err = dewhttp.ReadBody(r)
						got = bytes.Clone(got)
					}
				})).ServeHTTP(httptest.NewRecorder(), r)
				if err != tt.want || err == nil && string(got) != text {
					t.Errorf("%s, WhenFull %d, io.ReadAll %t: %q, %v, want %v", tt.name, full, direct, got, err, tt.want)
				}
				end()
			}
		}
	}
}

// The error of a context that the handler has derived counts as well.
func TestContextOfTheHandlerEnds(t *testing.T) {
	dewhttp.Middleware(dewhttp.Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, end := context.WithCancel(r.Context())
		end()
		if body, err := dewhttp.ReadBody(r.WithContext(ctx)); body != nil || err != context.Canceled {
			t.Errorf("%q, %v", body, err)
		}
	})).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", io.MultiReader(strings.NewReader("body")))) // without a length
}

// Once a handler in front has answered, as TimeoutHandler does, the server discards what still
// comes of the body, and the handler that reads it gets a part. That is no whole body.
func TestBodyIsCutOffByTheServer(t *testing.T) {
	const part, parts = 1000, 6
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	for _, header := range []string{"Content-Length: 6000", "Transfer-Encoding: chunked"} {
		for range 10 {
			begun, answered, read := make(chan bool, 1), make(chan bool), make(chan error, 1)
			reading := dewhttp.Middleware(dewhttp.Options{Pool: pool})(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
				r.Body = struct {
					io.Reader
					io.Closer
				}{io.MultiReader(told{begun}, r.Body), r.Body}
				body, err := dewhttp.ReadBody(r)
				if short := err == nil && len(body) < part*parts; short {
					read <- fmt.Errorf("%d of %d bytes, and no error", len(body), part*parts)
					return
				}
				read <- nil
			}))
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				ctx, cancel := context.WithCancel(r.Context())
				go reading.ServeHTTP(httptest.NewRecorder(), r.WithContext(ctx))
				<-begun
				cancel()
				close(answered)
			}))
			server.Listener = slowly{server.Listener}
			server.Start()
			c, err := net.Dial("tcp", server.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n", header)
			for i := range parts {
				data := strings.Repeat("x", part)
				if strings.HasPrefix(header, "Transfer") {
					data = fmt.Sprintf("%x\r\n%s\r\n", part, data)
				}
				io.WriteString(c, data)
				if i == 0 {
					<-answered
				}
			}
			if strings.HasPrefix(header, "Transfer") {
				io.WriteString(c, "0\r\n\r\n")
			}
			if err := <-read; err != nil {
				t.Errorf("%s: %v", header, err)
			}
			c.Close()
			server.Close()
		}
	}
}

// A slowly accepts connections whose parts come some time apart: a reader that has waited for a
// lock for more than a millisecond is the next to have it, so two readers of a body take turns.
type slowly struct{ net.Listener }

func (l slowly) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return slow{c}, err
}

type slow struct{ net.Conn }

func (c slow) Read(p []byte) (int, error) {
	time.Sleep(2 * time.Millisecond)
	return c.Conn.Read(p[:min(len(p), 1000)])
}

// A told reads nothing, and tells that it was asked.
type told struct{ begun chan<- bool }

func (r told) Read([]byte) (int, error) {
	r.begun <- true
	return 0, io.EOF
}
