package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond/load"
	"github.com/dewpond/dewpond/load/scenariofile"
)

// A gate holds each avatar back until three of one user are in flight at once: a session that asked
// for one after the other would never go on.
type gate struct {
	next http.Handler
	mu   sync.Mutex // held for a change of what follows
	all  []*trio
	open map[string]*trio // of users who have three, by uid
	log  []string         // sockets that came too early
}

// A trio is the photos that a user is about to ask for.
type trio struct {
	uid     string
	missing []string
	whole   chan struct{}
}

// match takes note of who is proposed to whom.
func (g *gate) match(w http.ResponseWriter, r *http.Request) {
	c := &copied{ResponseWriter: w}
	g.next.ServeHTTP(c, r)
	var m struct {
		UID        int
		Candidates []struct{ Photo string }
	}
	if json.Unmarshal(c.body.Bytes(), &m) == nil && len(m.Candidates) > 0 {
		t := &trio{uid: strconv.Itoa(m.UID), whole: make(chan struct{})}
		for _, x := range m.Candidates[:3] {
			t.missing = append(t.missing, x.Photo)
		}
		g.mu.Lock()
		g.all = append(g.all, t)
		g.mu.Unlock()
	}
	w.Write(c.body.Bytes())
}

// avatar waits for the other two.
func (g *gate) avatar(path string) {
	g.mu.Lock()
	for _, t := range g.all {
		i := slices.Index(t.missing, path)
		if i < 0 {
			continue
		}
		if t.missing = slices.Delete(t.missing, i, i+1); len(t.missing) == 0 {
			g.open[t.uid] = t
			close(t.whole)
		}
		g.mu.Unlock()
		<-t.whole
		return
	}
	g.mu.Unlock()
}

func (g *gate) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path == "/api/v1/match":
		g.match(w, r)
		return
	case strings.HasPrefix(r.URL.Path, "/img/"):
		g.avatar(r.URL.Path)
	case r.URL.Path == "/ws":
		g.mu.Lock()
		if g.open[r.FormValue("uid")] == nil {
			g.log = append(g.log, r.FormValue("uid"))
		}
		g.mu.Unlock()
	}
	g.next.ServeHTTP(w, r)
}

// A copied keeps the body, for whoever looks at it before it is sent.
type copied struct {
	http.ResponseWriter
	body bytes.Buffer
}

func (c *copied) Write(b []byte) (int, error) { return c.body.Write(b) }

// The server sees three avatars of one user in flight at once, and the message last. Its log has
// each session as it was.
func TestSessionAsTheServerSeesIt(t *testing.T) {
	startsProcesses(t)
	g := &gate{open: map[string]*trio{}}
	file := filepath.Join(t.TempDir(), "sessions.jsonl")
	r := beginWith(t, func(c *serveCommand) {
		c.SessionLog = file
		c.before = func(next http.Handler) http.Handler { g.next = next; return g }
	})
	f, err := scenariofile.Parse("session.yaml", []byte(scenariofile.Example))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Scenario
	s.Target, s.Thresholds, s.Abort = "http://"+r.HTTP, nil, load.Abort{}
	s.Arrivals.Rate, s.Arrivals.Warmup, s.Arrivals.Duration = 12, 0, time.Second // three connections for each
	s.Limits.Timeout = time.Minute
	for i, step := range s.Session {
		if socket, ok := step.Do.(load.Socket); ok {
			socket.Within = time.Minute
			s.Session[i].Do = socket
		}
	}
	result, err := load.Run(t.Context(), s, load.Options{})
	if err != nil || result.Failed > 0 || result.Finished == 0 {
		t.Fatalf("%d of %d sessions failed: %v, %v", result.Failed, result.Offered, result.Errors, err)
	}
	r.stop()
	if len(g.open) == 0 || len(g.log) > 0 {
		t.Errorf("%d users had three avatars in flight at once; %v sent their message before", len(g.open), g.log)
	}
	sessions := logOf(t, file)
	for uid := range g.open {
		got := sessions[uid]
		if len(got) != 5 || got[0] != "POST /api/v1/match" || got[4] != "websocket /ws" {
			t.Errorf("the log has of %s: %q", uid, got)
		}
	}
}

// logOf returns what each uid did, in the order in which it began.
func logOf(t *testing.T, file string) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	type line struct {
		Time                         time.Time
		Session                      any
		Protocol, Method, Path, Body string
	}
	var lines []line
	for l := range strings.Lines(string(text)) {
		var x line
		if err := json.Unmarshal([]byte(l), &x); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, x)
	}
	slices.SortFunc(lines, func(a, b line) int { return a.Time.Compare(b.Time) })
	sessions, uids := map[any][]string{}, map[any]string{}
	for _, l := range lines {
		path, _, _ := strings.Cut(l.Path, "?")
		if l.Protocol == "websocket" {
			l.Method = l.Protocol
		}
		sessions[l.Session] = append(sessions[l.Session], l.Method+" "+path)
		if l.Method == "POST" {
			uids[l.Session] = strings.TrimSuffix(strings.TrimPrefix(l.Body, `{"uid":`), "}")
		}
	}
	out := map[string][]string{}
	for session, did := range sessions {
		out[uids[session]] = did
	}
	return out
}
