package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"go.uber.org/goleak"
	"google.golang.org/protobuf/proto"

	"github.com/dewpond/dewpond/examples/matchmaker/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/standin/realserver"

	pb "github.com/dewpond/dewpond/examples/matchmaker/matchmakerpb"
)

func TestMain(m *testing.M) {
	standin.RunChild()              // this program is what the service starts for its stand-ins
	realserver.RunMonitor()         // and what a test starts for its servers
	if os.Getenv(asService) != "" { // and what tests start
		main()
		os.Exit(0)
	}
	code := m.Run()
	// What is about to end may take its time on a busy machine. What leaks is there at each look,
	// of half a second.
	for looks := 100; code == 0; looks-- {
		err := goleak.Find()
		if err == nil {
			break
		}
		if looks == 0 {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// asService is set in the environment of this program where it is the service.
const asService = "MATCHMAKER_SERVICE"

// startsProcesses skips a test that starts the service or what it stands on where -short leaves such tests out.
func startsProcesses(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("starts processes; the run without -short does")
	}
}

// A running service.
type running struct {
	Addresses
	text  string // what it printed until it was ready
	stop  func()
	ended chan error
}

// begin starts a service on stand-ins and free ports, which ends with the test.
func begin(t *testing.T) *running { return beginWith(t, func(*serveCommand) {}) }

// beginWith starts it with other options.
func beginWith(t *testing.T, set func(c *serveCommand)) *running {
	t.Helper()
	r := &running{ended: make(chan error, 1)}
	file := filepath.Join(t.TempDir(), "addresses.json")
	c := &serveCommand{HTTP: "127.0.0.1:0", HTTPS: "127.0.0.1:0", GRPC: "127.0.0.1:0", Admin: "127.0.0.1:0", Addresses: file, Postgres: standIn, Redis: standIn, UploadBudget: "64MiB", Unhurried: true, substitute: standIns}
	set(c)
	ctx, cancel := context.WithCancel(context.Background())
	out, in := io.Pipe()
	go func() {
		err := c.serve(ctx, in)
		in.CloseWithError(errors.Join(io.EOF, err))
		r.ended <- err
	}()
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		r.text += lines.Text() + "\n"
		if lines.Text() == "ready" {
			break
		}
	}
	stopped := false
	r.stop = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-r.ended; err != nil {
			t.Error(err)
		}
		http.DefaultClient.CloseIdleConnections()
	}
	t.Cleanup(r.stop)
	text, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(text, &r.Addresses)
	}
	if err != nil || !strings.HasSuffix(r.text, "ready\n") {
		t.Fatalf("the service is not ready: %v\n%s", err, r.text)
	}
	return r
}

func (r *running) do(t *testing.T, method, url, body string) (*http.Response, string) {
	t.Helper()
	q, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	a, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return a, string(text)
}

// ask asks a path of the service, and wants that status.
func (r *running) ask(t *testing.T, method, path, body string, status int) (*http.Response, string) {
	t.Helper()
	a, text := r.do(t, method, "http://"+r.HTTP+path, body)
	if a.StatusCode != status {
		t.Fatalf("%s %s answers %d, want %d: %s", method, path, a.StatusCode, status, text)
	}
	return a, text
}

func TestMatch(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	var sizes []int
	for uid := 1; uid <= 60; uid++ {
		a, text := r.ask(t, "POST", "/api/v1/match", `{"uid":`+itoa(uid)+`}`, 200)
		var m struct {
			UID        int    `json:"uid"`
			Region     string `json:"region"`
			Candidates []struct {
				UID   int     `json:"uid"`
				Name  string  `json:"name"`
				Age   int     `json:"age"`
				Score float64 `json:"score"`
				Photo string  `json:"photo"`
			} `json:"candidates"`
			Degraded []string `json:"degraded"`
		}
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatalf("%v in %s", err, text)
		}
		want := 10
		if uid%20 == 0 {
			want = 0 // so choosy that nobody will do
		}
		if m.UID != uid || len(m.Candidates) != want || m.Candidates == nil || m.Degraded == nil {
			t.Fatalf("%d has %d candidates, want %d: %s", uid, len(m.Candidates), want, text)
		}
		for i, c := range m.Candidates {
			if c.UID == uid || c.Name == "" || c.Photo != "/img/u/"+itoa(c.UID)+"_480p.jpg" || c.Score <= 0 || i > 0 && c.Score > m.Candidates[i-1].Score {
				t.Errorf("candidate %d: %+v", i, c)
			}
		}
		if timing := a.Header.Get("Server-Timing"); !containsAll(timing, "pool;", "db;", "redis;", "score;", "encode;") {
			t.Errorf("Server-Timing: %s", timing)
		}
		sizes = append(sizes, len(text))
		if _, again := r.ask(t, "GET", "/api/v1/matches?uid="+itoa(uid), "", 200); again != text {
			t.Errorf("GET answers\n%s\nPOST\n%s", again, text)
		}
	}
	slices.Sort(sizes)
	if median := sizes[len(sizes)/2]; median < 1000 || median > 1400 {
		t.Errorf("the median answer has %d bytes, want about 1200", median)
	}
}

func TestProfileAndRecommendations(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	r.ask(t, "GET", "/api/v1/users/7", "", 200)
	r.ask(t, "PUT", "/api/v1/users/7", `{"name":"Änne \"x\" Müller"}`, 200)
	_, text := r.ask(t, "GET", "/api/v1/users/7", "", 200)
	var u struct {
		Name    string
		Version int
	}
	if err := json.Unmarshal([]byte(text), &u); err != nil || u.Name != `Änne "x" Müller` || u.Version != 2 {
		t.Errorf("%s: %v", text, err)
	}
	_, first := r.ask(t, "GET", "/api/v1/recommendations?uid=7", "", 200)
	_, second := r.ask(t, "GET", "/api/v1/recommendations?uid=7", "", 200)
	var uids []int64
	if err := json.Unmarshal([]byte(first), &uids); err != nil || len(uids) != 20 || first != second {
		t.Errorf("%s, then %s: %v", first, second, err)
	}
}

func TestAvatar(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	a, _ := r.ask(t, "GET", "/img/u/7_480p.jpg", "", 200)
	q, _ := http.NewRequest("GET", "http://"+r.HTTP+"/img/u/7_480p.jpg", nil)
	q.Header.Set("If-None-Match", a.Header.Get("ETag"))
	again, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	again.Body.Close()
	if a.Header.Get("Content-Type") != "image/jpeg" || again.StatusCode != http.StatusNotModified {
		t.Errorf("%s, then %d", a.Header.Get("Content-Type"), again.StatusCode)
	}
}

// One port speaks HTTP/1.1 and h2c, the other HTTP/2 over TLS; metrics tell them apart.
func TestProtocols(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	transport := func(set func(p *http.Protocols)) *http.Transport {
		tr := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, Protocols: new(http.Protocols)}
		set(tr.Protocols)
		t.Cleanup(tr.CloseIdleConnections)
		return tr
	}
	for _, tt := range []struct {
		url   string
		tr    *http.Transport
		proto string
	}{
		{"http://" + r.HTTP, transport(func(p *http.Protocols) { p.SetHTTP1(true) }), "HTTP/1.1"},
		{"http://" + r.HTTP, transport(func(p *http.Protocols) { p.SetUnencryptedHTTP2(true) }), "HTTP/2.0"},
		{"https://" + r.HTTPS, transport(func(p *http.Protocols) { p.SetHTTP2(true) }), "HTTP/2.0"},
	} {
		for range 3 {
			a, err := (&http.Client{Transport: tt.tr}).Get(tt.url + "/api/v1/matches?uid=7")
			if err != nil {
				t.Fatal(err)
			}
			io.Copy(io.Discard, a.Body)
			a.Body.Close()
			if a.Proto != tt.proto || a.StatusCode != 200 {
				t.Errorf("%s: %s %s, want %s", tt.url, a.Proto, a.Status, tt.proto)
			}
		}
	}
	_, metrics := r.do(t, "GET", "http://"+r.Admin+"/metrics", "")
	for _, want := range []string{
		`matchmaker_requests_total{code="200",origin="user",path="GET /api/v1/matches",protocol="HTTP/1.1"} 3`,
		`matchmaker_requests_total{code="200",origin="user",path="GET /api/v1/matches",protocol="HTTP/2.0"} 6`,
		`matchmaker_connections_total{protocol="HTTP/1.1"} 1`,
		`matchmaker_connections_total{protocol="HTTP/2.0"} 2`,
		`matchmaker_requests_per_connection{protocol="HTTP/1.1"} 3`,
		`matchmaker_requests_per_connection{protocol="HTTP/2.0"} 3`,
		`matchmaker_scorer_connections_per_request`, `matchmaker_redis_closed_connections_total{`,
		`matchmaker_store_acquired_total`, `matchmaker_scorer_connections_total`, `dewpond_`, `go_gc_`,
		`matchmaker_redis_connections{node=`, `matchmaker_degraded{feature="score"} 0`,
	} {
		if !strings.Contains(metrics, want) {
			t.Errorf("/metrics has no %s", want)
		}
	}
	problems, err := promlint.New(strings.NewReader(metrics)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("promlint: %v, %v", problems, err)
	}
}

// A service that is told to stop answers what is in flight and closes sockets with 1001.
func TestStop(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	c, _, err := websocket.Dial(t.Context(), "ws://"+r.HTTP+"/ws?uid=7", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseNow()
	sendMessage(t, c, &pb.Message{To: 8, Seq: 3, Text: "hi"})
	if f := receive(t, c); f.GetAck().GetSeq() != 3 || f.GetAck().GetId() == 0 {
		t.Errorf("%v, want an Ack of 3", f)
	}
	stopped := make(chan struct{})
	go func() { defer close(stopped); r.stop() }()
	if _, _, err := c.Read(t.Context()); websocket.CloseStatus(err) != websocket.StatusGoingAway {
		t.Errorf("%v, want 1001", err)
	}
	<-stopped
}

func sendMessage(t *testing.T, c *websocket.Conn, m *pb.Message) {
	t.Helper()
	b, err := proto.Marshal(m)
	if err == nil {
		err = c.Write(t.Context(), websocket.MessageBinary, b)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func receive(t *testing.T, c *websocket.Conn) *pb.Frame {
	t.Helper()
	_, b, err := c.Read(t.Context())
	f := new(pb.Frame)
	if err == nil {
		err = proto.Unmarshal(b, f)
	}
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

func containsAll(s string, parts ...string) bool {
	for _, p := range parts {
		if !strings.Contains(s, p) {
			return false
		}
	}
	return true
}
