package rig

import (
	"bytes"
	"encoding/json"
	"flag"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"

	pb "github.com/dewpond/dewpond/examples/matchmaker/matchmakerpb"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/scenariofile"
)

var update = flag.Bool("update", false, "rewrite session.yaml, flood.yaml and session.pb from what they are made of")

// scenario and descriptors are the session of the users, and what its messages are.
const scenario, descriptors = "../../../../examples/matchmaker/session.yaml", "../../../../examples/matchmaker/session.pb"

// withDescriptors is the line that session.yaml has beside dewload's own example.
const withDescriptors = "descriptors: session.pb                # its messages, for where the target has no gRPC reflection, as behind a proxy\n"

// flood is the incident that those users have a part in: the same session with other arrivals, which are
// not judged.
const flood = "../../../../examples/matchmaker/flood.yaml"

const floodArrivals = `arrivals:
  process: poisson
  seed: 1
  stages:                               # of sessions; the rate goes in a straight line to each
    - {name: calm, for: 30s, rate: 100/s}
    - {name: burst, for: 5s, rate: 400/s, back: true}   # 30 s after the start: 400/s at once, and 100/s again
    - {name: between, for: 25s, rate: 100/s}
    - {name: to the peak, for: 10s, rate: 400/s}
    - {name: evening peak, for: 60s, rate: 400/s}       # +300 %
    - {name: from the peak, for: 10s, rate: 100/s}
    - {name: after, for: 30s, rate: 100/s}
`

// floodText is flood.yaml, of what session.yaml is.
func floodText(session string) string {
	var out strings.Builder
	for line := range strings.Lines(session) {
		switch key, _, _ := strings.Cut(line, ":"); key {
		case "name":
			out.WriteString("name: a burst 30 s after the start, and the evening peak\n")
		case "arrivals":
			out.WriteString(floodArrivals)
		case "connections":
			out.WriteString(strings.Replace(line, " 64 ", " 512", 1)) // a flood comes on more of them
		case "thresholds", "abort": // it is to be seen what breaks
		default:
			out.WriteString(line)
		}
	}
	return out.String()
}

// The session is dewload's example, and its descriptors are those of the service.
func TestDescriptors(t *testing.T) {
	want := &descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{protodesc.ToFileDescriptorProto(pb.File_matchmaker_proto)}}
	text := strings.Replace(scenariofile.Example, "data:\n", withDescriptors+"data:\n", 1)
	if *update {
		data, err := proto.MarshalOptions{Deterministic: true}.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		for name, data := range map[string][]byte{descriptors: data, scenario: []byte(text), flood: []byte(floodText(text))} {
			if err := os.WriteFile(name, data, 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	got := &descriptorpb.FileDescriptorSet{}
	data, err := os.ReadFile(descriptors)
	if err == nil {
		err = proto.Unmarshal(data, got)
	}
	if err != nil || !proto.Equal(got, want) {
		t.Errorf("%s is not what matchmakerpb has (%v): go test -run TestDescriptors -update", descriptors, err)
	}
	if is, err := os.ReadFile(scenario); err != nil || string(is) != text {
		t.Errorf("%s is not dewload's example with descriptors (%v): go test -run TestDescriptors -update", scenario, err)
	}
	if is, err := os.ReadFile(flood); err != nil || string(is) != floodText(text) {
		t.Errorf("%s is not session.yaml with a flood (%v): go test -run TestDescriptors -update", flood, err)
	}
}

// serve starts the service, on stand-ins, which ends with the test.
func serve(t *testing.T, args ...string) *childService {
	t.Helper()
	p := service(t)
	s, err := p.start(t.Context(), append([]string{"--unhurried"}, args...))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if s.command.ProcessState != nil { // the test has stopped it
			return
		}
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// sessions runs the session of the users at a target for a second. Only its times are longer, for a busy machine.
func sessions(t *testing.T, target string, rate float64) load.Result {
	t.Helper()
	f, err := scenariofile.Read(scenario)
	if err != nil {
		t.Fatal(err)
	}
	s := f.Scenario
	s.Target, s.Thresholds, s.Abort = target, nil, load.Abort{}
	s.Arrivals.Rate, s.Arrivals.Warmup, s.Arrivals.Duration = rate, 0, time.Second
	s.Limits.Timeout = time.Minute
	for i, step := range s.Session {
		if socket, ok := step.Do.(load.Socket); ok {
			socket.Within = time.Minute
			s.Session[i].Do = socket
		}
	}
	result, err := load.Run(t.Context(), s, load.Options{})
	if err != nil || result.Failed > 0 || result.Finished == 0 {
		t.Fatalf("%d of %d sessions failed: %v %v, %v", result.Failed, result.Offered, result.Errors, result.Messages, err)
	}
	return result
}

// The session that dewload knows runs without an error.
func TestSession(t *testing.T) {
	startsProcesses(t)
	s := serve(t)
	sessions(t, "http://"+s.addresses.HTTP, 40)
	a, err := http.Get("http://" + s.addresses.Admin + "/metrics")
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	metrics, err := io.ReadAll(a.Body)
	if err != nil || !strings.Contains(string(metrics), `origin="load",path="POST /api/v1/match"`) {
		t.Errorf("/metrics does not tell load from users: %v", err)
	}
}

// before starts a reverse proxy before the service, which speaks HTTP/1.1 to it.
func before(t *testing.T, s *childService, with func(http.Handler) http.Handler) (address string) {
	t.Helper()
	proxy := httptest.NewUnstartedServer(with(httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: s.addresses.HTTP})))
	proxy.Config.Protocols = new(http.Protocols)
	proxy.Config.Protocols.SetHTTP1(true)
	proxy.Config.Protocols.SetUnencryptedHTTP2(true)
	proxy.Start()
	t.Cleanup(proxy.Close)
	return proxy.URL
}

// The session runs through a reverse proxy, and has no gRPC reflection then.
func TestSessionBehindProxy(t *testing.T) {
	startsProcesses(t)
	sessions(t, before(t, serve(t), func(h http.Handler) http.Handler { return h }), 20)
}

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
	file := filepath.Join(t.TempDir(), "sessions.jsonl")
	s := serve(t, "--session-log="+file)
	g := &gate{open: map[string]*trio{}}
	target := before(t, s, func(next http.Handler) http.Handler { g.next = next; return g })
	sessions(t, target, 12) // three connections for each
	if err := s.stop(); err != nil {
		t.Fatal(err)
	}
	if len(g.open) == 0 || len(g.log) > 0 {
		t.Errorf("%d users had three avatars in flight at once; %v sent their message before", len(g.open), g.log)
	}
	logged := logOf(t, file)
	for uid := range g.open {
		got := logged[uid]
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
