// Package ok11 compresses answers.
package ok11

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

func (g *gzipResponse) Write(p []byte) (int, error) { return g.gz.Write(p) }

// Handler compresses what next writes.
func Handler(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			next.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Add("Vary", "Accept-Encoding")

		gz := gzipWriters.Get().(*gzip.Writer)
		gz.Reset(w)
		defer gzipWriters.Put(gz)
		defer gz.Close()
		next.ServeHTTP(&gzipResponse{ResponseWriter: w, gz: gz}, r)
	})
}
