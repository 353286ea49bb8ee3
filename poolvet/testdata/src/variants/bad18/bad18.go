// Package bad18 limits the time of handlers.
package bad18

import (
	"bytes"
	"net/http"
	"sync"
	"time"
)

type recorder struct {
	http.Header
	body bytes.Buffer
	code int
}

func (r *recorder) reset() {
	r.Header = make(http.Header)
	r.body.Reset()
	r.code = http.StatusOK
}

type writer struct{ *recorder }

func (w writer) Header() http.Header         { return w.recorder.Header }
func (w writer) Write(p []byte) (int, error) { return w.body.Write(p) }
func (w writer) WriteHeader(code int)        { w.code = code }

var recorders = sync.Pool{New: func() any { return new(recorder) }}

// Timeout answers 503 when next takes longer than d.
func Timeout(d time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		rec := recorders.Get().(*recorder)
		rec.reset()
		defer recorders.Put(rec)

		finished := make(chan struct{})
		go func() { // want `\(returnput\)`
			defer close(finished)
			next.ServeHTTP(writer{rec}, r)
		}()

		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-finished:
			for k, vv := range rec.Header {
				w.Header()[k] = vv
			}
			w.WriteHeader(rec.code)
			w.Write(rec.body.Bytes())
		case <-timer.C:
			http.Error(w, "timed out", http.StatusServiceUnavailable)
		}
	})
}
