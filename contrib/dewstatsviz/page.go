package dewstatsviz

import (
	"bufio"
	"bytes"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// first puts the plots of the pools before statsviz's own: each is an element of a grid, and has
// its name as id.
const first = `<style>#plots > [id^="dewpond-"] { order: -1 }</style>`

// An ours is statsviz's page with our plots first.
type ours struct{ page http.Handler }

func (o ours) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path != Root+"/" {
		o.page.ServeHTTP(w, r)
		return
	}
	whole := r.Clone(r.Context())
	for _, part := range []string{"Range", "If-Range", "If-Modified-Since", "If-None-Match"} {
		whole.Header.Del(part)
	}
	answer := &kept{header: w.Header(), status: http.StatusOK}
	o.page.ServeHTTP(answer, whole)
	body := bytes.Replace(answer.body.Bytes(), []byte("</head>"), []byte(first+"</head>"), 1)
	w.Header().Del("Content-Length")
	w.Header().Del("Last-Modified")
	w.WriteHeader(answer.status)
	w.Write(body)
}

// A kept is an answer that is not sent yet.
type kept struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (k *kept) Header() http.Header         { return k.header }
func (k *kept) WriteHeader(status int)      { k.status = status }
func (k *kept) Write(p []byte) (int, error) { return k.body.Write(p) }

// connections counts the pages that are open: each has a WebSocket.
type connections struct{ open atomic.Int64 }

// counted is h, whose connections count from their hijacking until they are closed.
func (c *connections) counted(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.ServeHTTP(hijacked{w, c}, r)
	})
}

type hijacked struct {
	http.ResponseWriter
	*connections
}

// Hijack implements [http.Hijacker].
func (h hijacked) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, rw, err := http.NewResponseController(h.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	h.open.Add(1)
	return &connection{Conn: conn, closed: sync.OnceFunc(func() { h.open.Add(-1) })}, rw, nil
}

type connection struct {
	net.Conn
	closed func()
}

func (c *connection) Close() error {
	c.closed()
	return c.Conn.Close()
}
