// Package bad29 compresses answers.
package bad29

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"sync"
)

var gzipWriters = sync.Pool{
	New: func() any { return gzip.NewWriter(io.Discard) },
}

type gzipResponse struct {
	http.ResponseWriter
	gz *gzip.Writer
}

func (g *gzipResponse) Write(p []byte) (int, error) {
	h := g.Header()
	if h.Get("Content-Type") == "" {
		h.Set("Content-Type", http.DetectContentType(p))
	}
	return g.gz.Write(p)
}

// Handler compresses what next writes.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Add("Vary", "Accept-Encoding")
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Del("Content-Length")

		gz := gzipWriters.Get().(*gzip.Writer)
		gz.Reset(w)
		defer gz.Close() // want `\(useafterput\)`
		defer gzipWriters.Put(gz)
		next.ServeHTTP(&gzipResponse{ResponseWriter: w, gz: gz}, r)
	})
}
