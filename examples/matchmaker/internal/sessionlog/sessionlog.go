// Package sessionlog writes what users do, one line of JSON for each request, in the form that
// dewload learn makes a scenario of.
package sessionlog

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/dewpond/dewpond/examples/matchmaker/store"
	"github.com/dewpond/dewpond/instruments/kit/logline"
)

// silence of a user ends a session.
const silence = 30 * time.Second

// A Log writes lines. A nil Log writes nothing. Its methods may be called by several goroutines at
// once.
//
// The service has no logins, so a session is what one uid does until it is silent. A photo's
// address does not say who looks at it: it belongs to whom its user was proposed last. What has
// no user at all belongs to its connection.
type Log struct {
	mu       sync.Mutex // held for one line
	out      *json.Encoder
	err      error // the first
	sessions map[int64]session
	number   int             // of the last session
	proposed map[int64]int64 // to whom a user was proposed last
}

type session struct {
	number int
	last   time.Time
}

// New returns a Log that writes each line at once.
func New(to io.Writer) *Log {
	return &Log{out: json.NewEncoder(to), sessions: map[int64]session{}, proposed: map[int64]int64{}}
}

// A Request is what a line is of.
type Request struct {
	Begun    time.Time
	First    time.Duration // until the first byte of the answer; 0: there was none
	Protocol string
	Method   string
	Path     string // with its query
	Status   int
	Sent     int64  // bytes
	Received int64  // by the user
	Body     []byte // what was sent

	UID        int64  // who asks; 0: it is not known
	Photo      int64  // whose photo is asked for
	Connection string // for what has neither
}

// Proposed notes that a user is about to be shown others, whose photos the user will ask for.
func (l *Log) Proposed(to int64, others func(yield func(uid int64) bool)) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for uid := range others {
		l.proposed[uid] = to
	}
}

// Write writes the line of a request that has ended.
func (l *Log) Write(r Request) {
	if l == nil {
		return
	}
	now := time.Now()
	out := logline.Line{
		Time: r.Begun, Protocol: r.Protocol, Method: r.Method, Path: r.Path, Status: r.Status,
		Sent: r.Sent, Received: r.Received, FirstByte: logline.Milliseconds(r.First), Duration: logline.Milliseconds(now.Sub(r.Begun)),
	}
	if r.Status >= http.StatusInternalServerError {
		out.Error = fmt.Sprintf("status %d", r.Status)
	}
	out.Keep(r.Body)
	l.mu.Lock()
	defer l.mu.Unlock()
	out.Session = l.sessionOf(r, now)
	if err := l.out.Encode(out); err != nil && l.err == nil {
		l.err = err
	}
}

// Err returns the first error of writing.
func (l *Log) Err() error {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *Log) sessionOf(r Request, now time.Time) any {
	uid := r.UID
	if uid == 0 {
		uid = l.proposed[r.Photo]
	}
	if uid < 1 || uid > store.Users { // what is made up must not grow the map
		return r.Connection
	}
	s, known := l.sessions[uid]
	if !known || r.Begun.Sub(s.last) > silence {
		l.number++
		s.number = l.number
	}
	s.last = now
	l.sessions[uid] = s
	return s.number
}
