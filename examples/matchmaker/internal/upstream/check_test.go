package upstream

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// A scorer that takes its time is awaited, and what is none is not.
func TestAwait(t *testing.T) {
	asked := 0
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		says   string
		times  int
	}{
		"a scorer": {func(w http.ResponseWriter, r *http.Request) {
			var q Question
			if json.NewDecoder(r.Body).Decode(&q) != nil || len(q.Candidates) != 1 {
				t.Errorf("the question is %+v", q)
			}
			json.NewEncoder(w).Encode(Answer{Scores: []float64{0.5}})
		}, "", 1},
		"one that begins": {func(w http.ResponseWriter, _ *http.Request) {
			if asked < 3 {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			json.NewEncoder(w).Encode(Answer{Scores: []float64{0.5}})
		}, "", 3},
		"a page":       {func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }, "that is no score", 1},
		"another path": {http.NotFound, "answers 404", 1},
	} {
		asked = 0
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked++
			c.answer(w, r)
		}))
		err := Await(t.Context(), s.URL)
		s.Close()
		if asked != c.times || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: asked %d times, %v", name, asked, err)
		}
	}
}

// One that never answers is waited for as long as the caller says.
func TestAwaitSilent(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if c, err := l.Accept(); err == nil {
			t.Cleanup(func() { c.Close() }) // not before Await has seen that ctx has ended
		}
		cancel()
	}()
	if err := Await(ctx, "http://"+l.Addr().String()); err == nil || !strings.Contains(err.Error(), "context canceled") {
		t.Errorf("the error is %v", err)
	}
}
