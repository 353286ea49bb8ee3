package load_test

import (
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/matchmaker"
	"github.com/dewpond/dewpond/instruments/load"
)

// short are arrivals for a test on real connections.
var short = load.Arrivals{Rate: 200, Duration: 500 * time.Millisecond}

// TestProtocols speaks each version of HTTP to a real server.
func TestProtocols(t *testing.T) {
	for _, c := range []struct {
		protocol load.Protocol
		secure   bool
		proto    string // as the target saw it
	}{
		{load.HTTP1, false, "HTTP/1.1"}, {load.HTTP1, true, "HTTP/1.1"}, {load.H2C, false, "HTTP/2.0"}, {load.H2, true, "HTTP/2.0"},
	} {
		name := string(c.protocol)
		if c.secure {
			name += " over TLS"
		}
		t.Run(name, func(t *testing.T) {
			target := matchmaker.Start(c.secure)
			defer target.Close()
			s := get(t, target.URL+"/img/u/a", short)
			s.Protocols = []load.Share{{Protocol: c.protocol, Weight: 1}}
			s.Connections = 5
			o := load.Options{RunID: "abc"}
			if c.secure {
				o.RootCAs = target.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
			}
			r := run(t, s, o)
			if r.Finished != 100 || target.Protocols()[c.proto] != 100 {
				t.Errorf("%d finished, the target saw %v, errors %v", r.Finished, target.Protocols(), r.Messages)
			}
			p := r.Protocols[0]
			handshakes := uint64(0)
			if c.secure {
				handshakes = 5
			}
			if len(r.Protocols) != 1 || p.Name != string(c.protocol) || p.Requests != 100 || p.Connections != 5 || p.Handshakes != handshakes || p.Reuse != 0.95 || p.PerConn != 20 || p.Connecting.Samples != 5 {
				t.Errorf("%d requests on %d connections, %d handshakes, reuse %v", p.Requests, p.Connections, p.Handshakes, p.Reuse)
			}
			if target.Marks()["abc"] != 100 || r.RunID != "abc" {
				t.Errorf("marks %v", target.Marks())
			}
		})
	}
}

func TestUntrustedCertificate(t *testing.T) {
	target := matchmaker.Start(true)
	defer target.Close()
	s := get(t, target.URL+"/img/u/a", short)
	if _, err := load.Run(t.Context(), s, load.Options{}); load.KindOf(err) != load.TLSFailed {
		t.Errorf("a certificate that nobody trusts: %v", err)
	}
	if r := run(t, s, load.Options{Insecure: true, NoMark: true}); r.Finished != 100 || target.Marks()[""] != 100 {
		t.Errorf("with Insecure %d finished, marks %v", r.Finished, target.Marks())
	}
}

// TestShares wants a mixture of 10,000 sessions to hold its shares within two points.
func TestShares(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		seen := map[string]int{}
		o := inBubble(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			mu.Lock()
			seen[r.Proto]++
			mu.Unlock()
		}))
		s := get(t, bubbleURL, load.Arrivals{Rate: 1000, Duration: 10 * time.Second, Seed: 7})
		s.Protocols = []load.Share{{Protocol: load.HTTP1, Weight: 70}, {Protocol: load.H2C, Weight: 30}}
		s.Connections = 10
		r := run(t, s, o)
		if h1 := seen["HTTP/1.1"]; r.Finished != 10_000 || h1 < 6800 || h1 > 7200 || seen["HTTP/2.0"] != 10_000-h1 {
			t.Errorf("of %d the target saw %v", r.Finished, seen)
		}
		if r.Protocols[0].Connections != 7 || r.Protocols[1].Connections != 3 || r.Protocols[0].Requests+r.Protocols[1].Requests != 10_000 {
			t.Errorf("protocols: %+v", r.Protocols)
		}
	})
}

// TestMixture speaks all protocols to one server at once.
func TestMixture(t *testing.T) {
	target := matchmaker.Start(false)
	defer target.Close()
	s := load.Scenario{
		Target: target.URL, Arrivals: short,
		Protocols: []load.Share{{Protocol: load.HTTP1, Weight: 1}, {Protocol: load.H2C, Weight: 1}},
		Data:      []load.Data{load.Integers("uid", 1, 9)},
		Session: []load.Step{
			{Name: "http", Do: load.Request{URL: "/img/u/${uid}"}},
			{Name: "rpc", Do: load.Procedure{Method: "matchmaker.v1.Matchmaker/Match", JSON: map[string]any{"uid": "${uid}"}, Take: map[string]string{"to": "/uids/0"}}},
			{Name: "socket", Do: load.Socket{URL: "/ws", Send: load.Message{Text: "to ${to} from ${uid}"}, Messages: 1}},
		},
	}
	r := run(t, s, load.Options{})
	if r.Finished != 100 {
		t.Fatalf("%d finished: %v", r.Finished, r.Messages)
	}
	if len(r.Protocols) != 4 || r.Protocols[2].Name != "websocket" || r.Protocols[2].Requests != 100 || r.Protocols[2].Connections != 100 || r.Protocols[3].Requests != 100 || r.Protocols[3].Connections != 20 {
		t.Errorf("protocols: %+v", r.Protocols)
	}
	if m := target.Messages(); len(m) != 100 || m[0][:len("to a from ")] != "to a from " {
		t.Errorf("%d messages, such as %q", len(m), m)
	}
	if n := target.Paths()["/matchmaker.v1.Matchmaker/Match"]; n != 100 || target.Marks()[r.RunID] < 300 {
		t.Errorf("%d calls, marks %v", n, target.Marks())
	}
}

// TestConnections counts at the target how many connections are open at once, and in all.
func TestConnections(t *testing.T) {
	for _, c := range []struct{ connections, most, all int }{{7, 7, 7}, {load.EachSession, 101, 101}} {
		var mu sync.Mutex
		open, most, all := map[net.Conn]bool{}, 0, 0
		target := matchmaker.Start(false, func(s *httptest.Server) {
			s.Config.ConnState = func(c net.Conn, s http.ConnState) {
				mu.Lock()
				defer mu.Unlock()
				switch s {
				case http.StateNew:
					open[c] = true
					all++
					most = max(most, len(open))
				case http.StateClosed, http.StateHijacked:
					delete(open, c)
				}
			}
		})
		s := get(t, target.URL+"/img/u/a", short)
		s.Connections = c.connections
		r := run(t, s, load.Options{})
		target.Close()
		mu.Lock()
		// With EachSession one more is opened before the first arrival, to see whether it can be.
		if r.Finished != 100 || most > c.most || all != c.all || len(open) > 0 {
			t.Errorf("connections %d: finished %d, %d at once, %d in all, %d left", c.connections, r.Finished, most, all, len(open))
		}
		if want := uint64(min(c.all, 100)); r.Protocols[0].Connections != want {
			t.Errorf("%d connections reported, want %d", r.Protocols[0].Connections, want)
		}
		mu.Unlock()
	}
}

// TestSchemes speaks each protocol to a target that is named by the scheme of any.
func TestSchemes(t *testing.T) {
	for _, secure := range []bool{false, true} {
		target := matchmaker.Start(secure)
		host := target.Listener.Addr().String()
		var o load.Options
		schemes := []string{"http", "ws", "grpc"}
		if secure {
			o.RootCAs = target.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs
			schemes = []string{"https", "wss", "grpcs"}
		}
		for _, scheme := range schemes {
			s := load.Scenario{Target: scheme + "://" + host, Arrivals: few, Limits: load.Limits{Timeout: time.Minute}, Session: []load.Step{
				{Name: "http", Do: load.Request{URL: "/img/u/a"}},
				{Name: "socket", Do: load.Socket{URL: "/ws", Send: load.Message{Text: "a"}, Messages: 1}},
				{Name: "rpc", Do: load.Procedure{Method: rpc[1:]}},
			}}
			if r := run(t, s, o); r.Finished != 5 || r.Target.URL != s.Target {
				t.Errorf("%s: %d finished: %v", r.Target.URL, r.Finished, r.Messages)
			}
		}
		target.Close()
	}
	for _, url := range []string{"wss://h:1/ws?a=${b}", "grpcs://h:1/a.B/C"} {
		s, err := load.Get(url)
		if err == nil {
			err = s.Validate()
		}
		if err != nil || s.Target != url[:strings.Index(url, ":1")+2] {
			t.Errorf("%s has the target %s: %v", url, s.Target, err)
		}
	}
	for url, want := range map[string]string{
		"127.0.0.1:7801": "begin with http:// or https://", "localhost:7801": "begin with http:// or https://", "/path": "begin with http:// or https://",
		"ftp://h/": "no step speaks ftp", "ws:///a": "has no host", "grpc://h/a": "names no method: give grpc://h/package.Service/Method",
	} {
		if _, err := load.Get(url); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want %s", url, err, want)
		}
	}
}
