// Package bad37 is an access log.
package bad37

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
	Output io.Writer
	Prefix string
	pool   sync.Pool
	mu     *sync.Mutex
}

// New makes an access log.
func New(w io.Writer) *Config {
	return &Config{Output: w, mu: new(sync.Mutex)}
}

func (c *Config) line(r *http.Request, took time.Duration) {
	b, ok := c.pool.Get().(*bytes.Buffer)
	if !ok {
		b = new(bytes.Buffer)
	}
	b.Reset()
	fmt.Fprintf(b, "%s%s %s %v\n", c.Prefix, r.Method, r.URL.Path, took)
	c.mu.Lock()
	c.Output.Write(b.Bytes())
	c.mu.Unlock()
	c.pool.Put(b)
}

// Wrap logs the requests that next serves.
func (c *Config) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		next.ServeHTTP(w, r)
		c.line(r, time.Since(start))
	})
}

// WithPrefix gives a config with another prefix.
func (c *Config) WithPrefix(p string) *Config {
	d := *c // missed
	d.Prefix = p
	return &d
}
