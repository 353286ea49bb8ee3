package load_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/dewpond/dewpond/instruments/internal/matchmaker"
	"github.com/dewpond/dewpond/instruments/load"
)

// one returns a scenario of one step.
func one(target string, do load.Action) load.Scenario {
	return load.Scenario{Target: target, Arrivals: load.Arrivals{Rate: 100, Duration: 100 * time.Millisecond}, Session: []load.Step{{Name: "step", Do: do}}}
}

// TestErrors has targets that do wrong: each error has its kind and says what was wrong.
func TestErrors(t *testing.T) {
	target := matchmaker.Start(false)
	defer target.Close()
	for _, c := range []struct {
		do   load.Action
		kind load.Kind
		says string
	}{
		{load.Request{URL: "/nowhere"}, load.BadStatus, "status 404"},
		{load.Request{URL: "/img/u/a", Expect: load.Expect{Status: 204}}, load.BadStatus, "status 200"},
		{load.Request{URL: "/img/u/a", Expect: load.Expect{Type: "image/png"}}, load.Unexpected, `type "image/jpeg", not "image/png"`},
		{load.Request{URL: "/long", Expect: load.Expect{AtMost: 1000}}, load.Unexpected, "more than 1000 bytes"},
		{load.Request{URL: "/long", Expect: load.Expect{AtMost: 1000}, Take: map[string]string{"x": ""}}, load.Unexpected, "more than 1000 bytes"},
		{load.Request{URL: "/img/u/a", Take: map[string]string{"x": "/x"}}, load.Unexpected, "is no JSON"},
		{load.Socket{URL: "/img/u/a"}, load.BadStatus, "status 200, and no WebSocket"},
		{load.Socket{URL: "/ws", Send: load.Message{Text: "go away"}, Messages: 1}, load.Unexpected, "StatusPolicyViolation you said so"},
		{load.Socket{URL: "/ws", Send: load.Message{Text: "a"}, Messages: 2, Within: time.Millisecond}, load.Timeout, ""},
		{load.Socket{URL: "/ws", Send: load.Message{Text: "long"}, Messages: 1, AtMost: 2}, load.Unexpected, "more than 2 bytes"},
		{load.Procedure{Method: "matchmaker.v1.Matchmaker/Match", AtMost: 1}, load.Unexpected, "larger than max"},
	} {
		t.Run(c.says, func(t *testing.T) {
			r := run(t, one(target.URL, c.do), load.Options{})
			if r.Failed != 10 || r.Errors[c.kind] != 10 || len(r.Errors) != 1 || !strings.Contains(r.Messages[c.kind], c.says) {
				t.Errorf("%d failed: %v %v, want %s: %s", r.Failed, r.Errors, r.Messages, c.kind, c.says)
			}
			if r.Session.Response.Samples != 0 || r.Session.FailedResponse.Samples != 10 {
				t.Error("the time of an error is not apart")
			}
		})
	}
}

// TestReset has a target that breaks off its answers, before their first byte and after it.
func TestReset(t *testing.T) {
	for _, protocol := range []load.Protocol{load.HTTP1, load.H2C} {
		for _, begun := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				o := inBubble(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
					if begun {
						w.Header().Set("Content-Length", "100")
						w.Write([]byte("begun"))
						w.(http.Flusher).Flush()
					}
					panic(http.ErrAbortHandler)
				}))
				s := one(bubbleURL[:len(bubbleURL)-1], load.Request{URL: "/"})
				s.Protocols = []load.Share{{Protocol: protocol, Weight: 1}}
				if r := run(t, s, o); r.Errors[load.Reset] != 10 || len(r.Errors) != 1 {
					t.Errorf("%s, begun %v: %v %v", protocol, begun, r.Errors, r.Messages)
				}
			})
		}
	}
}

// TestCutAnswerIsNotRead wants what is cut not to be read: memory cannot follow it.
func TestCutAnswerIsNotRead(t *testing.T) {
	var sent atomic.Int64
	synctest.Test(t, func(t *testing.T) {
		o := inBubble(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			block := make([]byte, 64<<10)
			for range 1000 {
				n, err := w.Write(block)
				if err != nil {
					return
				}
				sent.Add(int64(n))
			}
		}))
		s := one(bubbleURL[:len(bubbleURL)-1], load.Request{URL: "/", Expect: load.Expect{AtMost: 1000}})
		r := run(t, s, o)
		if r.Failed != 10 || sent.Load() > 10*(1<<20) {
			t.Errorf("%d failed, %d bytes were sent to those who wanted 1000", r.Failed, sent.Load())
		}
	})
}

// TestTargetDies has a target that goes away in mid-run: that is errors, and no hang.
func TestTargetDies(t *testing.T) {
	target := matchmaker.Start(false, func(s *httptest.Server) {
		var requests atomic.Int64
		handler := s.Config.Handler
		s.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			n := requests.Add(1)
			if n == 50 {
				go func() {
					s.Listener.Close()
					s.CloseClientConnections()
				}()
			}
			if n >= 50 { // however long it takes to go away
				<-r.Context().Done()
				return
			}
			handler.ServeHTTP(w, r)
		})
	})
	defer target.Close()
	s := get(t, target.URL+"/img/u/a", load.Arrivals{Rate: 200, Duration: time.Second})
	s.Connections = 4
	r := run(t, s, load.Options{})
	if r.Offered != 200 || r.Finished < 40 || r.Failed < 50 || r.Errors[load.DialFailed] == 0 || r.Errors[load.OtherFailed] > 0 {
		t.Errorf("offered %d, finished %d, failed %d: %v", r.Offered, r.Finished, r.Failed, r.Messages)
	}
}

func TestNobodyListens(t *testing.T) {
	_, err := load.Run(t.Context(), one("http://127.0.0.1:1", load.Request{URL: "/"}), load.Options{})
	if err == nil || errors.As(err, new(*load.InvalidError)) || !strings.Contains(err.Error(), "cannot connect to http://127.0.0.1:1") {
		t.Errorf("the error is %v", err)
	}
}

func TestAbort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		start := time.Now()
		o := inBubble(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			if time.Since(start) > 2*time.Second {
				w.WriteHeader(http.StatusInternalServerError)
			}
		}))
		s := get(t, bubbleURL, load.Arrivals{Rate: 100, Duration: time.Minute})
		var err error
		if s.Abort, err = load.ParseAbort("errors > 20% for 3s"); err != nil {
			t.Fatal(err)
		}
		r := run(t, s, o)
		if r.Aborted == "" || r.Interrupted || !r.Partial || r.Seconds < 4.9 || r.Seconds > 5.1 || r.Failed < 290 || r.Failed > 301 {
			t.Errorf("aborted %q after %v s, %d failed", r.Aborted, r.Seconds, r.Failed)
		}
	})
}

// descriptors writes a file of those of the target.
func descriptors(t *testing.T) string {
	data, err := proto.Marshal(&descriptorpb.FileDescriptorSet{File: []*descriptorpb.FileDescriptorProto{matchmaker.Descriptor()}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "set.pb")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestDescriptors takes messages from a file, and not from the target.
func TestDescriptors(t *testing.T) {
	target := matchmaker.Start(false)
	defer target.Close()
	file := descriptors(t)
	s := one(target.URL, load.Procedure{Method: "matchmaker.v1.Matchmaker/Match"})
	if r := run(t, s, load.Options{Descriptors: file}); r.Finished != 10 || len(target.Paths()) != 1 {
		t.Errorf("%d finished: %v; the target was asked %v", r.Finished, r.Messages, target.Paths())
	}
	if err := os.WriteFile(file, []byte("no descriptors"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		method, file, says string
	}{
		"no method":      {"matchmaker.v1.Matchmaker/March", "", `session[0].grpc: matchmaker.v1.Matchmaker has no method "March": it has Match`},
		"no service":     {"matchmaker.v1.Other/Match", "", "matchmaker.v1.Other is unknown to the target's gRPC reflection"},
		"no descriptors": {"matchmaker.v1.Matchmaker/Match", file, "it is no descriptor file"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load.Run(t.Context(), one(target.URL, load.Procedure{Method: c.method}), load.Options{Descriptors: c.file})
			if !errors.As(err, new(*load.InvalidError)) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("the error is %v, want %s", err, c.says)
			}
		})
	}
}
