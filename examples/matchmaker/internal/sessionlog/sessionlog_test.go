package sessionlog

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/logline"
)

// A session is what a uid does until it is silent; a photo is of whom it was proposed to last, and
// what has no user is of its connection.
func TestSessions(t *testing.T) {
	var out strings.Builder
	l := New(&out)
	now := time.Now()
	l.Write(Request{Begun: now, Path: "/api/v1/match", UID: 7, Body: []byte(`{"uid":7}`)})
	l.Proposed(7, slices.Values([]int64{100, 101}))
	l.Write(Request{Begun: now, Path: "/api/v1/match", UID: 8, Body: []byte{0xff, 0}})
	l.Proposed(8, slices.Values([]int64{101}))
	l.Write(Request{Begun: now, Path: "/img/u/100_480p.jpg", Photo: 100, Connection: "a:1", Body: make([]byte, 2000)})
	l.Write(Request{Begun: now, Path: "/img/u/101_480p.jpg", Photo: 101, Connection: "a:1", Status: 503})
	l.Write(Request{Begun: now, Path: "/img/u/102_480p.jpg", Photo: 102, Connection: "a:1"})
	l.Write(Request{Begun: now, Path: "/api/v1/match", UID: 1 << 60, Connection: "a:2"})
	l.Write(Request{Begun: now.Add(time.Hour), Path: "/ws?uid=7", UID: 7, First: time.Millisecond})
	var got []string
	for text := range strings.Lines(out.String()) {
		var x logline.Line
		if err := json.Unmarshal([]byte(text), &x); err != nil {
			t.Fatal(err)
		}
		id, _ := json.Marshal(x.Session)
		got = append(got, string(id)+" "+x.Body+x.Hex+x.Error)
	}
	want := []string{`1 {"uid":7}`, `2 ff00`, `1 `, `2 status 503`, `"a:1" `, `"a:2" `, `3 `}
	if !slices.Equal(got, want) || l.Err() != nil {
		t.Errorf("%q, %v, want %q", got, l.Err(), want)
	}
}

type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("the disk is full") }

func TestErr(t *testing.T) {
	l := New(full{})
	l.Write(Request{})
	if l.Err() == nil {
		t.Error("nobody says that the disk is full")
	}
	var none *Log
	none.Write(Request{})
	none.Proposed(7, nil)
	if none.Err() != nil {
		t.Error("a nil Log has an error")
	}
}
