// Package bad28 is a router that can dispatch a request again.
package bad28

import (
	"net/http"
	"sync"
)

// Ctx is the state of a request.
type Ctx struct {
	w      http.ResponseWriter
	r      *http.Request
	router *Router
}

// Handler serves a context.
type Handler func(*Ctx)

// Router finds handlers by path.
type Router struct {
	pool   sync.Pool
	routes map[string]Handler
}

// NewRouter makes a router.
func NewRouter() *Router {
	rt := &Router{routes: make(map[string]Handler)}
	rt.pool.New = func() any { return &Ctx{router: rt} }
	return rt
}

func (rt *Router) handle(c *Ctx) {
	h, ok := rt.routes[c.r.URL.Path]
	if !ok {
		http.NotFound(c.w, c.r)
		return
	}
	h(c)
}

// Redispatch serves the context again, for a changed path.
func (rt *Router) Redispatch(c *Ctx) {
	rt.handle(c)
	rt.pool.Put(c) // missed
}

// Rewrite serves the request under another path.
func (c *Ctx) Rewrite(path string) {
	c.r = c.r.Clone(c.r.Context())
	c.r.URL.Path = path
	c.router.Redispatch(c)
}

// ServeHTTP implements http.Handler.
func (rt *Router) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c := rt.pool.Get().(*Ctx)
	c.w, c.r = w, r
	rt.handle(c)
	rt.pool.Put(c)
}
