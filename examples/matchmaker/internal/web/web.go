// Package web is the service's paths over HTTP.
package web

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/dewpond/dewpond"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/chat"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/intake"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/memory"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/photo"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/service"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/sessionlog"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// mostBody bounds the body of a request but an upload's.
const mostBody = 64 << 10

// A Site answers HTTP. All fields but Log must be set.
type Site struct {
	Service *service.Service
	Bytes   *dewpond.BytePool // for uploads
	Memory  memory.Source     // for all else
	Stock   *photo.Stock
	Hub     *chat.Hub
	Metrics *Metrics
	Uploads Uploads
	Log     *sessionlog.Log // nil: none
	// Processed are the objects of POST /process.
	Processed *dewpond.Pool[Processed]
}

// Handler returns all paths.
func (s *Site) Handler() http.Handler {
	mux := http.NewServeMux()
	handle := func(pattern string, f func(w http.ResponseWriter, r *http.Request, t *service.Times) error) {
		mux.Handle(pattern, s.Metrics.path(pattern, func(w http.ResponseWriter, r *http.Request) {
			if off := s.Service.Degrade.Off(); len(off) > 0 {
				w.Header().Set("Degraded", strings.Join(off, ", "))
			}
			visited(s.Log, w, r, func(w http.ResponseWriter) {
				var t service.Times
				if err := f(w, r, &t); err != nil {
					fail(w, r, err)
				}
			})
		}))
	}
	handle("POST /api/v1/match", s.match)
	handle("GET /api/v1/matches", s.matches)
	handle("GET /api/v1/recommendations", s.recommendations)
	handle("GET /api/v1/users/{uid}", s.user)
	handle("PUT /api/v1/users/{uid}", s.putUser)
	handle("GET /api/v1/messages", s.messages)
	handle("GET /img/u/{file}", s.avatar)
	handle("PUT /api/v1/photos/{uid}", s.upload)
	handle("POST /process", s.process)
	handle("GET /ws", s.socket)
	return s.Memory.Handler(elsewhere(mux))
}

// elsewhere answers what is no path of the service as the mux does, but in JSON.
func elsewhere(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h, pattern := mux.Handler(r)
		if pattern != "" {
			mux.ServeHTTP(w, r)
			return
		}
		q := &quiet{ResponseWriter: w, code: http.StatusOK}
		h.ServeHTTP(q, r)
		text := "there is no such path: GET /api/v1/matches?uid=7 is one"
		if q.code == http.StatusMethodNotAllowed {
			text = "this path takes " + w.Header().Get("Allow")
		}
		fail(w, r, &problem{q.code, text})
	})
}

// A quiet takes the headers of an answer and notes its status.
type quiet struct {
	http.ResponseWriter
	code int
}

func (q *quiet) WriteHeader(code int) { q.code = code }

func (*quiet) Write(b []byte) (int, error) { return len(b), nil }

// A problem is an error for the client: what is wrong, and what would do.
type problem struct {
	status int
	text   string
}

func (p *problem) Error() string { return p.text }

func bad(status int, format string, args ...any) error {
	return &problem{status, fmt.Sprintf(format, args...)}
}

// fail answers with an error.
func fail(w http.ResponseWriter, r *http.Request, err error) {
	p := (*problem)(nil)
	large := (*http.MaxBytesError)(nil)
	write := (*service.WriteError)(nil)
	slow := (*intake.SlowError)(nil)
	switch {
	case errors.As(err, &slow):
		w.Header().Set("Connection", "close")
		p = &problem{http.StatusRequestTimeout, slow.Error()}
	case errors.As(err, &p):
	case errors.As(err, &large):
		p = &problem{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is too large: send at most %d bytes", large.Limit)}
	case errors.Is(err, store.ErrNotFound):
		p = &problem{http.StatusNotFound, fmt.Sprintf("there is no such user: uids are 1 to %d", store.Users)}
	case r.Context().Err() != nil:
		return // nobody reads it
	case errors.As(err, &write):
		w.Header().Set("Retry-After", "1")
		p = &problem{http.StatusServiceUnavailable, writes[write.Written]}
		service.Tell(r.Method+" "+r.URL.Path, err)
	default:
		w.Header().Set("Retry-After", "1")
		p = &problem{http.StatusServiceUnavailable, "try again in a second: what the service stands on does not answer"}
		service.Tell(r.Method+" "+r.URL.Path, err)
	}
	b := append([]byte(`{"error":`), quote(nil, p.text)...)
	if write != nil {
		b = quote(append(b, `,"written":`...), string(write.Written))
	}
	b = append(b, "}\n"...)
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", strconv.Itoa(len(b)))
	w.WriteHeader(p.status)
	w.Write(b)
}

// writes are what a write that failed is answered with.
var writes = map[store.Written]string{
	store.No:      "the profile is not written: try again in a second",
	store.Yes:     "the profile is written, but what is kept of it elsewhere could not be renewed: read it again, and there is no need to send it again",
	store.Unknown: "it is not known whether the profile is written: read it again in a second",
}

// timing says in the header where the time went.
func timing(w http.ResponseWriter, t *service.Times, encode time.Duration) {
	b := make([]byte, 0, 120)
	for _, part := range []struct {
		name string
		d    time.Duration
	}{{"pool", t.Wait}, {"db", t.Query}, {"redis", t.Redis}, {"score", t.Score}, {"encode", encode}} {
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = append(append(b, part.name...), ";dur="...)
		b = strconv.AppendFloat(b, float64(part.d)/float64(time.Millisecond), 'f', 3, 64)
	}
	w.Header().Set("Server-Timing", string(b))
}

// asked is a value of the query. http.Request.FormValue would read the body for it, also of a GET,
// and write what it has of files to the disk.
func asked(r *http.Request, name string) string { return r.URL.Query().Get(name) }

// uidOf reads a uid.
func uidOf(text, example string) (int64, error) {
	if text == "" {
		return 0, bad(http.StatusBadRequest, "uid is missing: ask as in %s", example)
	}
	uid, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, bad(http.StatusBadRequest, "uid is no number: ask as in %s", example)
	}
	return uid, nil
}

func (s *Site) match(w http.ResponseWriter, r *http.Request, t *service.Times) error {
	var q struct {
		UID *int64 `json:"uid"`
	}
	if err := s.decode(w, r, &q); err != nil {
		return err
	}
	if q.UID == nil {
		return bad(http.StatusBadRequest, `uid is missing: send {"uid":7}`)
	}
	return s.answerMatch(r.Context(), w, *q.UID, t)
}

func (s *Site) matches(w http.ResponseWriter, r *http.Request, t *service.Times) error {
	uid, err := uidOf(asked(r, "uid"), "/api/v1/matches?uid=7")
	if err != nil {
		return err
	}
	return s.answerMatch(r.Context(), w, uid, t)
}

func (s *Site) answerMatch(ctx context.Context, w http.ResponseWriter, uid int64, t *service.Times) error {
	visitOf(w).by(uid)
	return s.Service.Match(ctx, uid, t, func(m service.Match) error {
		visitOf(w).proposed(m.Candidates)
		begun := time.Now()
		body := s.Memory.Buffer()
		defer body.Release()
		writeMatch(body, m)
		timing(w, t, time.Since(begun))
		send(w, "application/json", body.Bytes())
		return nil
	})
}

func (s *Site) recommendations(w http.ResponseWriter, r *http.Request, t *service.Times) error {
	uid, err := uidOf(asked(r, "uid"), "/api/v1/recommendations?uid=7")
	if err != nil {
		return err
	}
	visitOf(w).by(uid)
	text, err := s.Service.Recommendations(r.Context(), uid, t)
	if err != nil {
		return err
	}
	timing(w, t, 0)
	send(w, "application/json", text)
	return nil
}

func (s *Site) socket(w http.ResponseWriter, r *http.Request, t *service.Times) error {
	uid, err := uidOf(asked(r, "uid"), "/ws?uid=7")
	if err != nil {
		return err
	}
	visitOf(w).by(uid)
	if _, err := s.Service.Profile(r.Context(), uid, t); err != nil {
		return err
	}
	s.Hub.Serve(w, r, uid)
	return nil
}

func send(w http.ResponseWriter, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.Write(body)
}
