package load_test

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/matchmaker"
	"github.com/dewpond/dewpond/instruments/load"
)

// A recorder is a target that takes note of the requests it gets, by their paths.
type recorder struct {
	target *matchmaker.Target
	mu     sync.Mutex
	seen   map[string][]*http.Request
	bodies map[string][]string
}

// record starts one. /token gives what is to be carried on, and /echo takes anything.
func record(t *testing.T, token string) (*recorder, string) { return recordBy(t, token, false) }

func recordBy(t *testing.T, token string, secure bool) (*recorder, string) {
	r := &recorder{seen: map[string][]*http.Request{}, bodies: map[string][]string{}}
	r.target = matchmaker.Start(secure, func(s *httptest.Server) {
		next := s.Config.Handler
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			path, body := q.URL.Path, []byte(nil)
			if path == "/echo" {
				body, _ = io.ReadAll(q.Body)
			}
			r.mu.Lock()
			r.seen[path] = append(r.seen[path], q)
			r.bodies[path] = append(r.bodies[path], string(body))
			r.mu.Unlock()
			switch path {
			case "/token":
				json.NewEncoder(w).Encode(map[string]string{"token": token})
			case "/echo":
			default:
				next.ServeHTTP(w, q)
			}
		})
	})
	t.Cleanup(r.target.Close)
	return r, r.target.URL
}

// few are the arrivals of a test that counts what comes.
var few = load.Arrivals{Rate: 100, Duration: 50 * time.Millisecond}

const (
	rpc        = "/matchmaker.v1.Matchmaker/Match"
	reflection = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
)

// TestNamesInHeaders logs in, and carries on what it got by each protocol.
func TestNamesInHeaders(t *testing.T) {
	own := http.Header{"X-Over": {"step"}, "Authorization": {"Bearer ${tok}"}}
	for _, protocol := range []load.Protocol{load.HTTP1, load.H2C} {
		target, url := record(t, "t1")
		r := run(t, load.Scenario{
			Target: url, Arrivals: few, Protocols: []load.Share{{Protocol: protocol, Weight: 1}}, Limits: load.Limits{Timeout: time.Minute},
			Header: http.Header{"X-User": {"u${uid}"}, "X-Over": {"scenario ${uid}"}},
			Data:   []load.Data{load.Integers("uid", 7, 7)},
			Session: []load.Step{
				{Name: "log in", Do: load.Request{URL: "/token", Take: map[string]string{"tok": "/token"}}},
				{Name: "http", Do: load.Request{
					Method: "POST", URL: "/echo", Body: []byte("user=${uid}&raw=$${uid}"),
					Header: http.Header{"authorization": {"Bearer ${tok}"}, "X-Over": {"step"}, "X-Raw": {"$${uid}"}, "X-Two": {"a", "${tok}"}},
				}},
				{Name: "socket", Do: load.Socket{URL: "/ws", Send: load.Message{Text: "a"}, Messages: 1, Header: own}},
				{Name: "rpc", Do: load.Procedure{Method: rpc[1:], Header: own}},
			},
		}, load.Options{RunID: "id"})
		if r.Finished != 5 {
			t.Fatalf("%s: %d finished: %v", protocol, r.Finished, r.Messages)
		}
		for i, q := range target.seen["/echo"] {
			h := q.Header
			if h.Get("Authorization") != "Bearer t1" || h.Get("X-Over") != "step" || h.Get("X-Raw") != "${uid}" || strings.Join(h["X-Two"], ",") != "a,t1" {
				t.Errorf("%s: the header is %v", protocol, h)
			}
			if got := target.bodies["/echo"][i]; got != "user=7&raw=${uid}" {
				t.Errorf("%s: the body is %q", protocol, got)
			}
		}
		for _, path := range []string{"/token", "/echo", "/ws", rpc} {
			if len(target.seen[path]) != 5 {
				t.Errorf("%s: %d requests of %s", protocol, len(target.seen[path]), path)
			}
			for _, q := range target.seen[path] {
				if h := q.Header; h.Get("X-User") != "u7" || h.Get(load.Mark) != "id" || path != "/token" && (h.Get("Authorization") != "Bearer t1" || h.Get("X-Over") != "step") {
					t.Errorf("%s: the header of %s is %v", protocol, path, h)
				}
			}
		}
	}
}

// TestNamesCarryNoHeader has a target whose token would begin a header of its own.
func TestNamesCarryNoHeader(t *testing.T) {
	socket := load.Socket{URL: "/ws", Send: load.Message{Text: "a"}, Messages: 1}
	for path, do := range map[string]load.Action{"/echo": load.Request{URL: "/echo"}, "/ws": socket, rpc: load.Procedure{Method: rpc[1:]}} {
		for _, token := range []string{"t\r\nEvil: 1", "t\nEvil: 1", "t\x00"} {
			target, url := record(t, token)
			s := load.Scenario{
				Target: url, Arrivals: few, Limits: load.Limits{Timeout: time.Minute}, Header: http.Header{"X-Token": {"${tok}"}},
				Session: []load.Step{
					{Name: "log in", Do: load.Request{URL: "/token", Header: http.Header{"X-Token": nil}, Take: map[string]string{"tok": "/token"}}},
					{Name: "step", Do: do},
				},
			}
			r := run(t, s, load.Options{})
			says := r.Messages[load.Unexpected]
			if _, sent := target.seen["/token"][0].Header["X-Token"]; sent {
				t.Error("what the step leaves out was sent")
			}
			if r.Failed != 5 || r.Errors[load.Unexpected] != 5 || !strings.Contains(says, "the header X-Token, with its names filled in, has a control character") || strings.Contains(says, "Evil") {
				t.Errorf("%s with %q: %d failed: %v", path, token, r.Failed, r.Messages)
			}
			if n := len(target.seen[path]); n > 0 {
				t.Errorf("%s with %q was asked %d times", path, token, n)
			}
		}
	}
}

// TestUnknownNameInHeader wants a name that nothing gives, or that only a later step gives, to be a
// mistake wherever it stands.
func TestUnknownNameInHeader(t *testing.T) {
	header := http.Header{"X-Token": {"${tok}"}}
	login := load.Step{Name: "log in", Do: load.Request{URL: "/", Take: map[string]string{"tok": "/token"}}}
	for where, s := range map[string]load.Scenario{
		"header.X-Token":            {Header: header, Session: []load.Step{login}},
		"session[0].header.X-Token": {Session: []load.Step{{Name: "a", Do: load.Request{URL: "/", Header: header}}, login}},
		"session[0].body":           {Session: []load.Step{{Name: "a", Do: load.Request{URL: "/", Body: []byte("${tok}")}}, login}},
	} {
		s.Target, s.Arrivals, s.Data = "http://127.0.0.1:1", few, []load.Data{load.Integers("uid", 1, 2)}
		var invalid *load.InvalidError
		if err := s.Validate(); !errors.As(err, &invalid) || invalid.Where != where || invalid.Problem != "nothing gives ${tok}: known here are uid" {
			t.Errorf("%s: the error is %v", where, err)
		}
	}
}

// all is a session that asks by each protocol.
func all() []load.Step {
	return []load.Step{
		{Name: "http", Do: load.Request{URL: "/echo"}},
		{Name: "socket", Do: load.Socket{URL: "/ws", Send: load.Message{Text: "a"}, Messages: 1}},
		{Name: "rpc", Do: load.Procedure{Method: rpc[1:]}},
	}
}

// TestHost asks for another host than that of the connection.
func TestHost(t *testing.T) {
	for _, c := range []struct {
		protocol load.Protocol
		secure   bool
	}{{load.HTTP1, false}, {load.HTTP1, true}, {load.H2C, false}, {load.H2, true}} {
		target, url := recordBy(t, "t1", c.secure)
		s := load.Scenario{
			Target: url, Arrivals: few, Protocols: []load.Share{{Protocol: c.protocol, Weight: 1}}, Limits: load.Limits{Timeout: time.Minute},
			Header: http.Header{"Host": {"shop.example:8080"}}, Session: all(),
		}
		var o load.Options
		if c.secure { // the certificate is not that of the host that is asked for
			o.RootCAs = target.target.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
		}
		r := run(t, s, o)
		if r.Finished != 5 {
			t.Fatalf("%s, TLS %v: %d finished: %v", c.protocol, c.secure, r.Finished, r.Messages)
		}
		for _, path := range []string{"/echo", "/ws", rpc} {
			for _, q := range target.seen[path] {
				if q.Host != "shop.example:8080" || q.Header["Host"] != nil {
					t.Errorf("%s, TLS %v: %s was asked of %q: %v", c.protocol, c.secure, path, q.Host, q.Header)
				}
			}
		}
	}
}

// TestHostOfStep has steps that ask for hosts of their own, and one that asks for the target's.
func TestHostOfStep(t *testing.T) {
	target, url := record(t, "t1")
	named, of := http.Header{"host": {"u${uid}.example"}}, http.Header{"Host": {"rpc.example"}}
	r := run(t, load.Scenario{
		Target: url, Arrivals: few, Limits: load.Limits{Timeout: time.Minute}, Data: []load.Data{load.Integers("uid", 7, 7)},
		Header: http.Header{"Host": {"shop.example"}},
		Session: []load.Step{
			{Name: "http", Do: load.Request{URL: "/echo", Header: named}},
			{Name: "socket", Do: load.Socket{URL: "/ws", Send: load.Message{Text: "a"}, Messages: 1, Header: named}},
			{Name: "rpc", Do: load.Procedure{Method: rpc[1:], Header: of}},
			{Name: "own", Do: load.Request{URL: "/img/u/a", Header: http.Header{"Host": nil}}},
		},
	}, load.Options{})
	if r.Finished != 5 {
		t.Fatalf("%d finished: %v", r.Finished, r.Messages)
	}
	for path, want := range map[string]string{"/echo": "u7.example", "/ws": "u7.example", rpc: "rpc.example", "/img/u/a": strings.TrimPrefix(url, "http://")} {
		for _, q := range target.seen[path] {
			if q.Host != want {
				t.Errorf("%s was asked of %q, want %q", path, q.Host, want)
			}
		}
	}
}

// TestUserOfURL sends what stands before the host, as curl does, unless a header says it.
func TestUserOfURL(t *testing.T) {
	for user, want := range map[string]string{"me:p%40ss": "Basic bWU6cEBzcw==", "me": "Basic bWU6", "me:": "Basic bWU6"} {
		target, url := record(t, "t1")
		s := load.Scenario{
			Target: strings.Replace(url, "http://", "http://"+user+"@", 1), Arrivals: few, Limits: load.Limits{Timeout: time.Minute},
			Session: append(all(),
				load.Step{Name: "own", Do: load.Request{URL: "/own", Header: http.Header{"Authorization": {"Bearer x"}}, Expect: load.Expect{Status: 404}}},
				load.Step{Name: "none", Do: load.Request{URL: "/none", Header: http.Header{"Authorization": nil}, Expect: load.Expect{Status: 404}}}),
		}
		if r := run(t, s, load.Options{}); r.Finished != 5 {
			t.Fatalf("%d finished: %v", r.Finished, r.Messages)
		}
		for path, want := range map[string]string{"/echo": want, "/ws": want, rpc: want, reflection: want, "/own": "Bearer x", "/none": ""} {
			if len(target.seen[path]) == 0 {
				t.Errorf("%s: %s was not asked", user, path)
			}
			for _, q := range target.seen[path] {
				if got := q.Header.Get("Authorization"); got != want {
					t.Errorf("%s: %s was asked with %q, want %q", user, path, got, want)
				}
			}
		}
	}
	s, err := load.Get("http://me:pw@host:1/a?b=c")
	if err != nil || s.Target != "http://me:pw@host:1" || s.Name != "GET /a?b=c" {
		t.Errorf("a URL's target is %q, %v", s.Target, err)
	}
}

// TestUnfitHeaders wants a header that cannot be sent to be a mistake.
func TestUnfitHeaders(t *testing.T) {
	for _, c := range []struct {
		name, value string
		do          load.Action
		want        string
	}{
		{"X User", "a", load.Request{URL: "/"}, `"X User" is no name of a header: give one of letters, digits and -, such as X-User`},
		{"", "a", load.Request{URL: "/"}, `"" is no name of a header`},
		{"X-User:", "a", load.Socket{URL: "/"}, `"X-User:" is no name of a header`},
		{"X!", "a", load.Procedure{Method: "a.B/C"}, `"X!" is no name of a header`},
		{"X-User", "a\r\nEvil: 1", load.Request{URL: "/"}, "the value has a control character, such as a line end: it cannot be sent"},
		{"X-User", "${uid}\n", load.Request{URL: "/"}, "the value has a control character"},
		{"X-User", "a\x00", load.Socket{URL: "/"}, "the value has a control character"},
		{"X-User", "\u00e9", load.Procedure{Method: "a.B/C"}, "the value has a character that is not ASCII"},
		{"Host", "", load.Request{URL: "/"}, `"" is no host: give a name`},
		{"Host", "a b", load.Request{URL: "/"}, `"a b" is no host`},
		{"Host", "${uid}.example", load.Procedure{Method: "a.B/C"}, `"${uid}.example": a gRPC connection has one host`},
	} {
		header := http.Header{c.name: {c.value}}
		own := c.do
		switch do := c.do.(type) {
		case load.Request:
			do.Header = header
			own = do
		case load.Socket:
			do.Header = header
			own = do
		case load.Procedure:
			do.Header = header
			own = do
		}
		for where, s := range map[string]load.Scenario{"header.": {Header: header, Session: []load.Step{{Name: "a", Do: c.do}}}, "session[0].header.": {Session: []load.Step{{Name: "a", Do: own}}}} {
			s.Target, s.Arrivals, s.Data = "http://127.0.0.1:1", few, []load.Data{load.Integers("uid", 1, 2)}
			var invalid *load.InvalidError
			if err := s.Validate(); !errors.As(err, &invalid) || invalid.Where != where+c.name || !strings.HasPrefix(invalid.Problem, c.want) {
				t.Errorf("%q: %q: the error is %v", c.name, c.value, err)
			}
		}
	}
	for name, value := range map[string]string{"X-User": "\u00e9\t", "X-Any-Bin": "${uid}"} {
		s := load.Scenario{Target: "http://127.0.0.1:1", Arrivals: few, Data: []load.Data{load.Integers("uid", 1, 2)}, Header: http.Header{name: {value}}, Session: []load.Step{{Name: "a", Do: load.Request{URL: "/"}}}}
		if err := s.Validate(); err != nil {
			t.Error(err)
		}
	}
}

// TestSecretsOfCalls has a target that repeats what a call shows it: the report does not.
func TestSecretsOfCalls(t *testing.T) {
	target := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/grpc")
		w.Header().Set("Grpc-Status", "16")
		w.Header().Set("Grpc-Message", "nobody knows "+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
	}))
	target.Config.Protocols = new(http.Protocols)
	target.Config.Protocols.SetUnencryptedHTTP2(true)
	target.Start()
	defer target.Close()
	file := descriptors(t)
	with := run(t, load.Scenario{
		Target: strings.Replace(target.URL, "http://", "http://me:5b0d2e@", 1), Arrivals: few, Limits: load.Limits{Timeout: time.Minute},
		Session: []load.Step{{Name: "rpc", Do: load.Procedure{Method: rpc[1:]}}},
	}, load.Options{Descriptors: file})
	if says := with.Messages[load.BadStatus]; with.Failed != 5 || !strings.HasSuffix(says, "nobody knows …") || strings.Contains(with.Target.URL, "5b0d2e") {
		t.Errorf("%d failed: %v; the target is %s", with.Failed, with.Messages, with.Target.URL)
	}
	r := run(t, load.Scenario{
		Target: target.URL, Arrivals: few, Limits: load.Limits{Timeout: time.Minute},
		Session: []load.Step{{Name: "rpc", Do: load.Procedure{Method: rpc[1:], Header: http.Header{"Authorization": {"Bearer 4f0c1b"}}}}},
	}, load.Options{Descriptors: file})
	if says := r.Messages[load.BadStatus]; r.Failed != 5 || !strings.HasSuffix(says, "nobody knows …") {
		t.Errorf("%d failed: %v", r.Failed, r.Messages)
	}
	r = run(t, load.Scenario{
		Target: target.URL, Arrivals: few, Limits: load.Limits{Timeout: time.Minute}, Data: []load.Data{load.OneOf("token", "a17e9c")},
		Header:  http.Header{"Authorization": {"Bearer ${token}"}},
		Session: []load.Step{{Name: "rpc", Do: load.Procedure{Method: rpc[1:]}}},
	}, load.Options{Descriptors: file})
	if says := r.StatusMessages["Unauthenticated"]; r.Failed != 5 || !strings.HasSuffix(says, "nobody knows …") || r.Messages[load.BadStatus] != says {
		t.Errorf("with what is filled in %d failed: %v %v", r.Failed, r.Messages, r.StatusMessages)
	}
}
