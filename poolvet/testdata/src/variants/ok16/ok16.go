// Package ok16 is an access log.
package ok16

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"
)

// Config tunes the access log.
type Config struct {
	Prefix string
	out    io.Writer
	pool   *sync.Pool
	mu     *sync.Mutex
}

// New makes an access log.
func New(w io.Writer) Config {
	p := new(sync.Pool)
	p.New = func() any { return new(bytes.Buffer) }
	return Config{out: w, pool: p, mu: new(sync.Mutex)}
}

// WithPrefix gives a config with another prefix.
func (c Config) WithPrefix(s string) Config {
	c.Prefix = s
	return c
}

// Wrap logs the requests that next serves.
func (c Config) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		next.ServeHTTP(w, r)
		b := c.pool.Get().(*bytes.Buffer)
		b.Reset()
		fmt.Fprintf(b, "%s%s %s %v\n", c.Prefix, r.Method, r.URL.Path, time.Since(start))
		c.mu.Lock()
		c.out.Write(b.Bytes())
		c.mu.Unlock()
		c.pool.Put(b)
	})
}
