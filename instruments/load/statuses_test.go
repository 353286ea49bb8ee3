package load_test

import (
	"bytes"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/matchmaker"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/report"
)

// TestStatuses has a target that is full, limits the rate, goes away and answers. Each of these has
// its number in every report, in the sum of agents and of intervals, and in a report that is made
// again.
func TestStatuses(t *testing.T) {
	var turn, calls atomic.Int64
	target := matchmaker.Start(false, func(s *httptest.Server) {
		next := s.Config.Handler
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			switch q.URL.Path {
			case "/turns":
				io.Copy(io.Discard, q.Body)
				status := []int{200, 429, 503, 0, 503}[turn.Add(1)%5]
				switch status {
				case 0:
					panic(http.ErrAbortHandler)
				case 200:
					w.Write(make([]byte, 100))
					return
				}
				w.WriteHeader(status)
				w.Write(make([]byte, 10))
			case rpc:
				if calls.Add(1)%2 == 0 {
					w.Header().Set("Content-Type", "application/grpc")
					w.Header().Set("Grpc-Status", "5")
					return
				}
				fallthrough
			default:
				next.ServeHTTP(w, q)
			}
		})
	})
	defer target.Close()
	result := func(o load.Options, name string, do load.Action) load.Result {
		s := one(target.URL, do)
		s.Session[0].Name, s.Limits.Timeout = name, time.Minute
		return run(t, s, o)
	}
	turns := load.Request{Method: "POST", URL: "/turns", Body: []byte("1234567")}
	var intervals []load.Result
	r := result(load.Options{Interval: func(r load.Result) { intervals = append(intervals, r) }}, "turns", turns)
	want := map[string]uint64{"200": 2, "429": 2, "503": 4}
	for name, p := range map[string]load.Part{"step": r.Steps[0], "protocol": r.Protocols[0].Part, "intervals": load.Merge(intervals...).Steps[0]} {
		if !maps.Equal(p.Statuses, want) || p.Sent != 70 || p.Received != 260 {
			t.Errorf("the %s has %v, sent %d and received %d bytes", name, p.Statuses, p.Sent, p.Received)
		}
	}
	two := load.Merge(r, r)
	if got := two.Steps[0]; !maps.Equal(got.Statuses, map[string]uint64{"200": 4, "429": 4, "503": 8}) || got.Sent != 140 || got.Received != 520 {
		t.Errorf("two agents have %v, sent %d and received %d bytes", got.Statuses, got.Sent, got.Received)
	}
	if !maps.Equal(two.ErrorStatuses, map[string]uint64{"429": 4, "503": 8}) || two.StatusMessages["429"] != "status 429 of POST /turns" {
		t.Errorf("two agents have the errors %v %v", two.ErrorStatuses, two.StatusMessages)
	}
	wantIn(t, r, "turns  200: 2, 429: 2, 503: 4, none: 2        70 B     260 B",
		"2 errors of kind status, such as: status 429 of POST /turns", "4 errors of kind status, such as: status 503 of POST /turns")

	wantIn(t, result(load.Options{}, "rpc", load.Procedure{Method: rpc[1:], JSON: map[string]any{"uid": 1}}), "rpc  NotFound: 5, OK: 5        20 B      30 B", "5 errors of kind status, such as: rpc error: code = NotFound")
	wantIn(t, result(load.Options{}, "socket", load.Socket{URL: "/ws", Send: load.Message{Text: "abc"}, Messages: 1}), "socket   101: 10        30 B      30 B")
	wantIn(t, result(load.Options{}, "no socket", load.Socket{URL: "/nowhere"}), "no socket   404: 10         0 B       0 B", "10 errors of kind status, such as: status 404, and no WebSocket")
}

// wantIn wants lines in the text, and in one that is made again from the JSON, and their cells in the
// page.
func wantIn(t *testing.T, r load.Result, lines ...string) {
	t.Helper()
	var text, page, data, again bytes.Buffer
	for _, err := range []error{report.WriteText(&text, &r), report.WriteHTML(&page, &r), r.WriteJSON(&data)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	read, err := load.ReadJSON(&data)
	if err == nil {
		err = report.WriteText(&again, &read)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines {
		for name, got := range map[string]string{"text": text.String(), "text from JSON": again.String()} {
			if !strings.Contains(spaced(got), spaced(line)) {
				t.Errorf("there is no %q in the %s:\n%s", line, name, got)
			}
		}
		cells := []string{line}
		if !strings.Contains(line, "errors of") {
			_, rest, _ := strings.Cut(line, "  ")
			cells = strings.Split(strings.TrimSpace(rest), "  ")
		}
		for _, cell := range cells {
			if cell = strings.TrimSpace(cell); !strings.Contains(page.String(), cell) {
				t.Errorf("there is no %q in the page", cell)
			}
		}
	}
}

// spaced returns a text in which a space stands for any number.
func spaced(s string) string { return strings.Join(strings.Fields(s), " ") }
