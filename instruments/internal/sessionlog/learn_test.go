package sessionlog_test

import (
	"bytes"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/matchmaker"
	"github.com/dewpond/dewpond/instruments/internal/pipe"
	"github.com/dewpond/dewpond/instruments/internal/sessionlog"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/scenariofile"
)

// logged runs the scenario in a bubble, where an answer takes 5 ms, and returns its log.
func logged(t *testing.T, s load.Scenario) []byte {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		l := pipe.Listen()
		target := matchmaker.Start(false, func(s *httptest.Server) {
			s.Listener.Close()
			s.Listener = l
			h := s.Config.Handler
			s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				time.Sleep(5 * time.Millisecond)
				h.ServeHTTP(w, r)
			})
		})
		defer target.Close()
		r, err := load.Run(t.Context(), s, load.Options{Dial: l.Dial, Requests: &out})
		if err != nil {
			t.Fatal(err)
		}
		if r.Failed > 0 || r.Dropped > 0 {
			t.Fatalf("%d failed, %d dropped: %v", r.Failed, r.Dropped, r.Messages)
		}
	})
	return out.Bytes()
}

func learned(t *testing.T, log []byte) *sessionlog.Features {
	t.Helper()
	var l sessionlog.Log
	if err := l.Add("log.json", bytes.NewReader(log)); err != nil || l.Bad > 0 {
		t.Fatalf("%v, cannot be read: %v", err, l.Named)
	}
	f, err := sessionlog.Learn(&l)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// read writes what was learned and reads it as a scenario.
func read(t *testing.T, s sessionlog.Scenario) load.Scenario {
	t.Helper()
	dir := t.TempDir()
	for name, text := range s.Lists {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	f, err := scenariofile.Parse(filepath.Join(dir, "learned.yaml"), []byte(s.Text))
	if err == nil {
		err = f.Locate(f.Scenario.Validate())
	}
	if err != nil {
		t.Fatalf("%v in\n%s", err, s.Text)
	}
	return f.Scenario
}

// near reports whether b is within 10 % of a.
func near[T int | int64 | float64 | time.Duration](a, b T) bool {
	return math.Abs(float64(b)-float64(a)) <= 0.1*math.Abs(float64(a))
}

// TestRoundTrip learns from a run of the example, runs what was learned, and finds the same
// features.
func TestRoundTrip(t *testing.T) {
	example, err := scenariofile.Parse("session.yaml", []byte(scenariofile.Example))
	if err != nil {
		t.Fatal(err)
	}
	s := example.Scenario
	s.Arrivals.Rate, s.Arrivals.Warmup, s.Arrivals.Duration = 100, 0, 20*time.Second
	first := learned(t, logged(t, s))
	file := first.Scenario("learned", s.Target, "learned-")
	second := learned(t, logged(t, read(t, file)))
	t.Logf("learned:\n%s", file.Text)

	if !near(first.Rate, second.Rate) || len(second.Kinds) != 3 || len(file.Left) > 0 {
		t.Fatalf("%v/s and %v/s, %d kinds, left out: %v", first.Rate, second.Rate, len(second.Kinds), file.Left)
	}
	for i, a := range first.Kinds {
		b := second.Kinds[i]
		if a.Name != b.Name || !near(a.Sent, b.Sent) || !near(a.Received, b.Received) || !near(a.Thinking, b.Thinking) || !near(a.Longer, b.Longer) || !near(a.Took, b.Took) || !near(a.FirstByte, b.FirstByte) {
			t.Errorf("%+v became %+v", a, b)
		}
		want := 1
		if a.Name == "avatar" {
			want = 3
		}
		if a.Parallel != want || b.Parallel != want {
			t.Errorf("%s: %d at once, and then %d, want %d", a.Name, a.Parallel, b.Parallel, want)
		}
	}
	for p, share := range first.Protocols {
		if math.Abs(second.Protocols[p]-share) > 0.02 {
			t.Errorf("%s: a share of %v, and then %v", p, share, second.Protocols[p])
		}
	}
	if len(first.Transitions) != len(second.Transitions) {
		t.Fatalf("%v became %v", first.Transitions, second.Transitions)
	}
	for i, a := range first.Transitions {
		if b := second.Transitions[i]; a.From != b.From || a.To != b.To || math.Abs(a.Share-b.Share) > 0.02 {
			t.Errorf("%+v became %+v", a, b)
		}
	}
}

// TestBranches learns from a log without steps, of a service's own, in which sessions go two ways.
func TestBranches(t *testing.T) {
	var log bytes.Buffer
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	line := func(session int, after time.Duration, rest string) {
		log.WriteString(`{"session":"s` + string(rune('a'+session%26)) + string(rune('a'+session/26)) + `","time":"` +
			at.Add(time.Duration(session)*10*time.Millisecond+after).Format(time.RFC3339Nano) + `","duration_ms":5,` + rest + "}\n")
	}
	for i := range 100 {
		uid := string(rune('0'+i/10)) + string(rune('0'+i%10))
		line(i, 0, `"protocol":"HTTP/1.1","method":"POST","path":"/api/v1/login","status":201,"sent":14,"body":"{\"user\":\"`+uid+`x\"}"`)
		if i%4 == 0 {
			line(i, 105*time.Millisecond, `"protocol":"HTTP/1.1","method":"GET","path":"/user/`+uid+`x/page?from=home","status":200`)
			line(i, 110*time.Millisecond, `"protocol":"grpc","path":"/a.B/C","sent":3`)
		} else {
			line(i, 5*time.Millisecond, `"protocol":"HTTP/1.1","method":"PUT","path":"/photo","status":200,"sent":100000`)
			line(i, 10*time.Millisecond, `"protocol":"HTTP/1.1","method":"PUT","path":"/text","status":200,"sent":9,"body":"no ${name}"`)
		}
	}
	f := learned(t, log.Bytes())
	text := f.Scenario("branches", "http://127.0.0.1:1", "l-")
	s := read(t, text)
	for _, want := range []string{
		"arrivals: {rate: 100/s, process: constant, duration: 1s, seed: 1}",
		`  user: {lines: "l-user.txt"}`,
		"has_GET__user___page: {share: 25}", // the first step that some sessions lack
		`json: {"user":"${user}"}`,
		`get: "/user/${user}/page?from=home"`,
		"think: {median: 100ms, p95: 100ms}",
		`grpc: "a.B/C"`,
		`expect: {status: 201}`,
		`body: "no $${name}"`,
		"# the log does not have the 100000 bytes that were sent: fill them in",
	} {
		if !bytes.Contains([]byte(text.Text), []byte(want)) {
			t.Errorf("there is no %q in\n%s", want, text.Text)
		}
	}
	if len(s.Session) != 6 || bytes.Count([]byte(text.Lists["l-user.txt"]), []byte("\n")) != 100 {
		t.Errorf("%d steps, users %q", len(s.Session), text.Lists["l-user.txt"])
	}
}

// TestUnreadable counts the lines that cannot be read and names five.
func TestUnreadable(t *testing.T) {
	text := "nonsense\n\n{}\n" + `{"time":"2026-01-01T00:00:00Z"}` + "\n" + `{"time":"2026-01-01T00:00:00Z","session":1}` + "\n" +
		`{"time":"yesterday","session":1,"path":"/"}` + "\n" + string(bytes.Repeat([]byte("x"), 3<<20)) + "\n" +
		`{"time":"2026-01-01T00:00:00Z","session":1,"method":"GET","path":"/"}`
	var l sessionlog.Log
	if err := l.Add("a.json", bytes.NewReader([]byte(text))); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	l.WriteText(&out)
	if l.Lines != 7 || l.Bad != 6 || len(l.Named) != 5 || len(l.Sessions) != 1 {
		t.Errorf("%d lines, %d bad, %d sessions: %s", l.Lines, l.Bad, len(l.Sessions), &out)
	}
	for _, want := range []string{"6 of 7 lines cannot be read", "a.json:1: invalid character", "a.json:3: it has no time", "a.json:4: it has no session", "a.json:5: it has neither path nor step"} {
		if !bytes.Contains(out.Bytes(), []byte(want)) {
			t.Errorf("there is no %q in %s", want, &out)
		}
	}
	if _, err := sessionlog.Learn(&sessionlog.Log{}); err == nil {
		t.Error("a log without lines teaches something")
	}
}
