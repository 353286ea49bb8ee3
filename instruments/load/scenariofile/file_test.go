package scenariofile_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/matchmaker"
	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/scenariofile"
)

// example returns the example against a target, and shorter.
func example(t *testing.T, target *matchmaker.Target) load.Scenario {
	t.Helper()
	f, err := scenariofile.Parse("session.yaml", []byte(scenariofile.Example))
	if err != nil {
		t.Fatal(err)
	}
	s := f.Scenario
	if err := s.Validate(); err != nil {
		t.Fatal(f.Locate(err))
	}
	if s.Target != "http://127.0.0.1:8080" || s.Arrivals.Rate != 200 || s.Arrivals.Process != load.Poisson || s.Arrivals.Warmup != 5*time.Second || len(s.Session) != 5 || s.Connections != 64 || len(s.Thresholds) != 3 {
		t.Errorf("read as %+v", s)
	}
	s.Target = target.URL
	s.Arrivals.Warmup, s.Arrivals.Duration = 0, 500*time.Millisecond
	s.Session[3].Do = load.Think{Median: time.Millisecond, P95: 4 * time.Millisecond}
	s.Limits.Timeout = time.Minute // for a busy machine
	for i, step := range s.Session {
		if socket, ok := step.Do.(load.Socket); ok {
			socket.Within = time.Minute
			s.Session[i].Do = socket
		}
	}
	return s
}

func TestExample(t *testing.T) {
	target := matchmaker.Start(false)
	defer target.Close()
	r, err := load.Run(t.Context(), example(t, target), load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Finished < 50 || r.Finished != r.Offered {
		t.Fatalf("%d of %d sessions finished: %v", r.Finished, r.Offered, r.Messages)
	}
	for i, step := range []struct {
		name string
		each uint64
	}{{"match", 1}, {"recommend", 0}, {"avatar", 3}, {"first message", 1}} {
		if got := r.Steps[i]; got.Name != step.name || got.Requests != step.each*r.Finished {
			t.Errorf("step %s has %d requests, want %d of %s", got.Name, got.Requests, step.each*r.Finished, step.name)
		}
	}
	if n := len(target.Messages()); uint64(n) != r.Finished || !strings.Contains(target.Messages()[0], "hi") {
		t.Errorf("%d messages came, such as %q", n, target.Messages()[0])
	}
	if target.Paths()["/img/u/a_480p.jpg"] != int(r.Finished) || target.Paths()["/img/u/d_480p.jpg"] != 0 {
		t.Errorf("the avatars were %v", target.Paths())
	}
	if r.Awake == nil || r.Awake.Response.Mean >= r.Session.Response.Mean {
		t.Error("thinking is not taken out of the session")
	}
}

// TestExampleRetries has a target without candidates: the session asks again, and goes another
// way.
func TestExampleRetries(t *testing.T) {
	target := matchmaker.Start(false)
	defer target.Close()
	target.Lonely = true
	s := example(t, target)
	s.Session[0].Retry.Wait = time.Millisecond
	r, err := load.Run(t.Context(), s, load.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Finished == 0 || r.Failed > 0 || r.Steps[0].Requests != 3*r.Finished || r.Steps[1].Requests != r.Finished || r.Steps[2].Requests+r.Steps[3].Requests != 0 {
		t.Errorf("finished %d, failed %d, steps %d %d %d %d: %v", r.Finished, r.Failed, r.Steps[0].Requests, r.Steps[1].Requests, r.Steps[2].Requests, r.Steps[3].Requests, r.Messages)
	}
}

func TestJSON(t *testing.T) {
	f, err := scenariofile.Parse("s.json", []byte(`{"target": "http://h", "arrivals": {"rate": 5, "duration": "1s"}, "session": [{"name": "a", "get": "/"}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if err := f.Scenario.Validate(); err != nil || f.Scenario.Arrivals.Rate != 5 {
		t.Errorf("%+v, %v", f.Scenario, err)
	}
}

// TestStages reads stages, by how long they take and by when they end.
func TestStages(t *testing.T) {
	f, err := scenariofile.Parse("s.yaml", []byte(`target: http://h
arrivals:
  process: poisson
  stages:
    - {for: 30s, rate: 200/s}
    - {at: 35s, rate: 800}
    - {name: peak, for: 1m, rate: 800/s}
    - {for: 0s, rate: 200/s}
    - {for: 5s, rate: 900/s, back: true}
session: [{name: a, get: /}]
`))
	if err != nil {
		t.Fatal(err)
	}
	want := []load.Stage{
		{For: 30 * time.Second, Rate: 200}, {For: 5 * time.Second, Rate: 800}, {Name: "peak", For: time.Minute, Rate: 800},
		{Rate: 200}, {For: 5 * time.Second, Rate: 900, Back: true},
	}
	if got := f.Scenario.Arrivals.Stages; !slices.Equal(got, want) {
		t.Errorf("read as %+v, want %+v", got, want)
	}
	if err := f.Scenario.Validate(); err != nil {
		t.Error(err)
	}
}

// TestMistakes wants each mistake to be one line that has the place, an excerpt, and what would do.
func TestMistakes(t *testing.T) {
	base := `name: a
target: http://127.0.0.1:1
arrivals: {rate: 10/s, duration: 1s}
data:
  uid: {integers: [1, 9]}
session:
  - name: first
    get: /a?uid=${uid}
`
	for _, c := range []struct{ old, new, want string }{
		{"target:", "tarket:", `s.yaml:2:1: unknown key "tarket": known here are name, target,`},
		{"rate: 10/s", "rate: fast", `s.yaml:3:18: rate: "fast": give sessions a second, such as 200/s   | arrivals: {rate: fast`},
		{"rate: 10/s", "rate: 0", `s.yaml:3:18: a rate of 0: give sessions a second, more than 0`},
		{"rate: 10/s", "rate: 1000001", `s.yaml:3:18: a rate of 1000001: give sessions a second, more than 0 and at most 1000000`},
		{"duration: 1s", "duration: 0s", `a duration of 0s: give more than 0s`},
		{"duration: 1s", "duration: [1]", `duration: a list is no text`},
		{"duration: 1s", "duration: 1s, users: 1000001", `s.yaml:3:45: 1000001 users: give 1 to 1000000`},
		{"rate: 10/s, duration: 1s", "stages: 5s", `s.yaml:3:20: stages: "5s" is no list`},
		{"rate: 10/s, duration: 1s", "stages: []", `s.yaml:3:20: stages: give one at least, as in [{for: 30s, rate: 200/s}]`},
		{"rate: 10/s, duration: 1s", "stages: [{rate: 5}]", `give for (how long the stage takes, 0s for a step) or at (when it ends), as in {for: 30s, rate: 200/s}`},
		{"rate: 10/s, duration: 1s", "stages: [{at: 5s, for: 5s, rate: 5}]", `give for (how long`},
		{"rate: 10/s, duration: 1s", "stages: [{for: 5s}]", `the stage has no rate: give one`},
		{"rate: 10/s, duration: 1s", "stages: [{for: 5s, rate: lots}]", `s.yaml:3:37: rate: "lots": give sessions a second, such as 200/s`},
		{"rate: 10/s, duration: 1s", "stages: [{for: 5s, rate: -1}]", `s.yaml:3:37: stage 1 has a rate of -1: give sessions a second, 0 to 1000000`},
		{"rate: 10/s, duration: 1s", "stages: [{for: 5s, rate: 1e9}]", `s.yaml:3:37: stage 1 has a rate of 1000000000: give sessions a second, 0 to 1000000`},
		{"rate: 10/s, duration: 1s", "stages: [{for: -5s, rate: 5}]", `s.yaml:3:27: stage 1 goes back in time: it takes -5s: give 0s for a step, or more`},
		{"rate: 10/s, duration: 1s", "stages: [{at: 9s, rate: 5}, {at: 5s, rate: 5}]", `s.yaml:3:45: at: "5s" goes back in time: it ends at 5s, and the stage before it at 9s: give 9s or more`},
		{"duration: 1s", "stages: [{for: 5s, rate: 5}]", `s.yaml:3:18: rate and stages: give one`},
		{"data:", "limits: {in_flight: 1000001}\ndata:", `s.yaml:4:21: 1000001 sessions in flight: give 1 to 1000000`},
		{"data:", "connections: 1000001\ndata:", `"1000001": give 1 to 1000000, or each`},
		{"duration: 1s", "rate: 5", `already defined`},
		{"name: a\n", "name: a\nname: b\n", `s.yaml:2:1: mapping key "name" already defined`},
		{"${uid}", "${uidd}", `s.yaml:8:10: nothing gives ${uidd}: known here are uid   | get: /a?uid=${uidd}`},
		{"${uid}", "${uid}\n    header:\n      Accept: text/plain\n      authorization: Bearer ${tok}", `s.yaml:11:22: nothing gives ${tok}: known here are uid   | authorization: …`},
		{"get: /a?uid=${uid}", "post: /a\n    body: user=${user}", `s.yaml:9:11: nothing gives ${user}: known here are uid   | body: user=${user}`},
		{"get: /a?uid=${uid}", "websocket: /a\n    header: {A: '${user}'}", `s.yaml:9:17: nothing gives ${user}: known here are uid`},
		{"get: /a?uid=${uid}", "grpc: a.B/C\n    header: {A: '${user}'}", `s.yaml:9:17: nothing gives ${user}: known here are uid`},
		{"name: a\n", "name: a\nheader: {\"x user\": 1}\n", `s.yaml:2:20: "x user" is no name of a header`},
		{"${uid}", "${uid}\n    header: {x-user: \"a\\nb\"}", `s.yaml:9:22: the value has a control character, such as a line end`},
		{"name: a\n", "name: a\ndescriptors: nowhere.pb\n", `s.yaml:2:14: descriptors: open nowhere.pb`},
		{"name: a\n", "name: a\ndescriptors: file_test.go\n", `s.yaml:2:14: it is no descriptor file`},
		{"name: a\n", "name: a\nheader:\n  x-user: ${user}\n", `s.yaml:3:11: nothing gives ${user}: known here are uid`},
		{"name: a\n", "name: a\nheader: {x-user: 1, X-User: 2}\n", `s.yaml:2:29: "X-User" is there twice: give it once`},
		{"${uid}", "${uid", `s.yaml:8:10: "${uid" lacks its }`},
		{"${uid}", "${uid}\n    take: {x: candidates}", `s.yaml:9:15: "candidates" is no JSON pointer`},
		{"${uid}", "${uid}\n    take: {x: /a~2}", `write ~ as ~0 and / as ~1`},
		{"${uid}", "${uid}\n    each: {id: uid, first: 0}", `first: "0": give a whole number from 1`},
		{"${uid}", "${uid}\n    each: {id: ids}", `s.yaml:9:11: nothing gives ${ids}`},
		{"${uid}", "${uid}\n    when: nobody", `s.yaml:9:11: nothing gives ${nobody}: known here are uid`},
		{"${uid}", "${uid}\n    post: /b", `the step does get and post: give it one`},
		{"${uid}", "${uid}\n    send: {text: hi}", `send: does not go with get, but with websocket`},
		{"get: /a?uid=${uid}", "get: a", `s.yaml:8:10: "a" is no path: begin it with /`},
		{"get: /a?uid=${uid}", "when: uid", `the step does nothing: give it one of get, post`},
		{"get: /a?uid=${uid}", "grpc: Match", `"Match" is no method: give package.Service/Method`},
		{"get: /a?uid=${uid}", "think: {median: 2s, p95: 1s}", `give a median of more than 0s, and a p95 that is not less`},
		{"data:", "protocols: {http/1.1: some}\ndata:", `s.yaml:4:23: http/1.1: "some" is no number`},
		{"data:", "protocols: {http/1.1: 0}\ndata:", `all shares are 0`},
		{"data:", "protocols: {spdy: 1}\ndata:", `"spdy" is no protocol of sessions: give http/1.1, h2c or h2`},
		{"data:", "protocols: {h2: 1}\ndata:", `h2 needs a target of https://`},
		{"data:", "connections: none\ndata:", `s.yaml:4:14: connections: "none": give 1 to 1000000, or each`},
		{"data:", "limits: {in_flight: 0}\ndata:", `in_flight: "0": give a whole number from 1`},
		{"data:", "thresholds: [second p99 < 1s]\ndata:", `no step is called "second": there are session and first`},
		{"data:", "thresholds: [first p98 < 1s]\ndata:", `is no threshold: give STEP p99 < 100ms`},
		{"data:", "abort: never\ndata:", `"never" is no reason to abort`},
		{"[1, 9]", "[9, 1]", `integers: give [LOW, HIGH], such as [1, 20000]`},
		{"{integers: [1, 9]}", "{share: 101}", `s.yaml:5:16: share: give 0 to 100`},
		{"{integers: [1, 9]}", "{integers: [1, 9], times: 0}", `times: "0": give a whole number from 1 to 1000`},
		{"{integers: [1, 9]}", "{times: 2}", `uid: give one of integers`},
		{"{integers: [1, 9]}", "{lines: nowhere.txt}", `s.yaml:5:16: lines: open nowhere.txt`},
		{"http://127.0.0.1:1", "127.0.0.1:1", `s.yaml:2:9: "127.0.0.1:1"`},
		{"name: a\n", "name: [\n", `s.yaml:`},
	} {
		t.Run(c.new, func(t *testing.T) {
			text := strings.Replace(base, c.old, c.new, 1)
			f, err := scenariofile.Parse("s.yaml", []byte(text))
			if err == nil {
				err = f.Locate(f.Scenario.Validate())
			}
			var invalid *load.InvalidError
			if !errors.As(err, &invalid) {
				t.Fatalf("the error is %v", err)
			}
			if got := err.Error(); !strings.Contains(got, c.want) || strings.Contains(got, "\n") || !strings.HasPrefix(got, "s.yaml:") {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}
