// Package bad19 is a tiny router with recycled contexts.
package bad19

import (
	"log/slog"
	"net/http"
	"sync"
	"time"
)

// Context travels with one request.
type Context struct {
	W    http.ResponseWriter
	R    *http.Request
	keys map[string]string
}

// Set keeps a value for the request.
func (c *Context) Set(k, v string) { c.keys[k] = v }

// Get gives a kept value.
func (c *Context) Get(k string) string { return c.keys[k] }

// Engine dispatches requests.
type Engine struct {
	pool   sync.Pool
	routes map[string]func(*Context)
	log    *slog.Logger
}

// New makes an engine.
func New(l *slog.Logger) *Engine {
	e := &Engine{routes: map[string]func(*Context){}, log: l}
	e.pool.New = func() any { return &Context{keys: make(map[string]string)} }
	return e
}

func (e *Engine) audit(c *Context, start time.Time) {
	e.log.Info("request", "path", c.R.URL.Path, "user", c.Get("user"), "took", time.Since(start))
}

// ServeHTTP runs the route.
func (e *Engine) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := e.pool.Get().(*Context)
	c.W, c.R = w, r
	clear(c.keys)
	start := time.Now()
	if h := e.routes[r.URL.Path]; h != nil {
		h(c)
	} else {
		http.NotFound(w, r)
	}
	go e.audit(c, start)
	e.pool.Put(c) // want `\(useafterput\)`
}
