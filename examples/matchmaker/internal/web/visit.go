package web

import (
	"net/http"
	"time"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/matching"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/sessionlog"
)

// A visit is a request while it is answered, for the session log. A nil visit notes nothing.
type visit struct {
	http.ResponseWriter
	log *sessionlog.Log
	r   sessionlog.Request
}

// visited has next answer, and the log a line of it. A WebSocket has one for each message instead.
func visited(log *sessionlog.Log, w http.ResponseWriter, r *http.Request, next func(w http.ResponseWriter)) {
	if log == nil {
		next(w)
		return
	}
	protocol := r.Proto
	if r.TLS != nil && r.ProtoMajor == 2 {
		protocol = "h2"
	}
	v := &visit{w, log, sessionlog.Request{
		Begun: time.Now(), Protocol: protocol, Method: r.Method, Path: r.URL.RequestURI(), Sent: max(0, r.ContentLength), Connection: r.RemoteAddr,
	}}
	next(v)
	if r.URL.Path != "/ws" || v.r.Status >= http.StatusBadRequest {
		log.Write(v.r)
	}
}

func visitOf(w http.ResponseWriter) *visit {
	v, _ := w.(*visit)
	return v
}

// by notes who asks.
func (v *visit) by(uid int64) {
	if v != nil {
		v.r.UID = uid
	}
}

// of notes whose photo is asked for.
func (v *visit) of(uid int64) {
	if v != nil {
		v.r.Photo = uid
	}
}

// sent notes what was sent. body may be nil.
func (v *visit) sent(n int, body []byte) {
	if v != nil {
		v.r.Sent, v.r.Body = int64(n), append([]byte(nil), body...)
	}
}

// proposed notes who is about to be shown.
func (v *visit) proposed(candidates []matching.Candidate) {
	if v == nil {
		return
	}
	v.log.Proposed(v.r.UID, func(yield func(uid int64) bool) {
		for _, c := range candidates {
			if !yield(c.UID) {
				return
			}
		}
	})
}

func (v *visit) WriteHeader(code int) {
	if v.r.Status == 0 {
		v.r.Status, v.r.First = code, time.Since(v.r.Begun)
	}
	v.ResponseWriter.WriteHeader(code)
}

func (v *visit) Write(b []byte) (int, error) {
	if v.r.Status == 0 {
		v.r.Status, v.r.First = http.StatusOK, time.Since(v.r.Begun)
	}
	n, err := v.ResponseWriter.Write(b)
	v.r.Received += int64(n)
	return n, err
}

// Unwrap is for http.ResponseController, by which a WebSocket takes the connection over.
func (v *visit) Unwrap() http.ResponseWriter { return v.ResponseWriter }
