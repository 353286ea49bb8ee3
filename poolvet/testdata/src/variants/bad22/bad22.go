// Package bad22 adds transport facts to request contexts.
package bad22

import (
	"context"
	"net/http"
	"sync"
)

type infoKey struct{}

// Info tells how a request came in.
type Info struct {
	Operation string
	Endpoint  string
	header    http.Header
}

// ReplyHeader gives the header to be sent.
func (i *Info) ReplyHeader() http.Header { return i.header }

// FromContext finds the info of the request.
func FromContext(ctx context.Context) (*Info, bool) {
	i, ok := ctx.Value(infoKey{}).(*Info)
	return i, ok
}

// Filter puts an Info into each request.
type Filter struct {
	infos    sync.Pool
	endpoint string
	next     http.Handler
}

func (f *Filter) acquire(w http.ResponseWriter, r *http.Request) *Info {
	i, ok := f.infos.Get().(*Info)
	if !ok {
		i = new(Info)
	}
	i.Operation = r.Method + " " + r.URL.Path
	i.Endpoint = f.endpoint
	i.header = w.Header()
	return i
}

func (f *Filter) release(i *Info) {
	*i = Info{}
	f.infos.Put(i)
}

// ServeHTTP calls the next handler.
func (f *Filter) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	info := f.acquire(w, r)
	defer f.release(info)
	ctx := context.WithValue(r.Context(), infoKey{}, info) // missed
	f.next.ServeHTTP(w, r.WithContext(ctx))
}
