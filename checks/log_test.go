package checks

import (
	"bytes"
	"encoding/json"
	"log"
	"log/slog"
	"os"
	"regexp"
	"runtime"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/misuse"
)

var written = misuse.Violation{
	Kind: misuse.WriteAfterPut, Size: 64, Offset: 8, Written: 2, Old: []byte{0, 1}, New: []byte("hi"), Owners: [][]uintptr{two()}, Got: one(),
	Pool: "p", Type: "T", Field: "A", Advice: "look there",
}

func one() []uintptr { return thisStack() }
func two() []uintptr { return thisStack() }

//go:noinline
func thisStack() []uintptr {
	room := make([]uintptr, 1)
	return room[:runtime.Callers(2, room)]
}

// logged returns what the default logger writes of a Report by a handler, or by its own if
// that is nil.
func logged(r misuse.Violation, handler func(*bytes.Buffer) slog.Handler) string {
	var text bytes.Buffer
	if handler == nil {
		defer log.SetOutput(os.Stderr)
		defer log.SetFlags(log.Flags())
		log.SetOutput(&text)
		log.SetFlags(0)
	} else {
		defer slog.SetDefault(slog.Default())
		slog.SetDefault(slog.New(handler(&text)))
	}
	check.Log(r)
	return text.String()
}

// A program without a handler of its own gets the report as it is.
func TestLogAsItIs(t *testing.T) {
	if got, want := logged(written, nil), "ERROR "+written.String()+"\n"; got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// A text handler gets a record for each line and each frame.
func TestLogAsText(t *testing.T) {
	text := logged(written, func(to *bytes.Buffer) slog.Handler { return slog.NewTextHandler(to, nil) })
	if n := strings.Count(text, "\n"); n != strings.Count(text, "level=ERROR") || n != len(written.Details())+1 {
		t.Errorf("%d lines:\n%s", n, text)
	}
	for _, want := range []string{
		`msg="dewpond: write after Put: a T of 64 bytes of pool \"p\", owners that have not released: 1" pool=p age=0s`,
		`msg="dewpond: written at offset 8, in field A, over 2 bytes"`,
		`msg="dewpond: look there"`,
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it lacks %s:\n%s", want, text)
		}
	}
	if !regexp.MustCompile(`msg="dewpond:     \S+/checks\.\S+ \S+log_test\.go:\d+"`).MatchString(text) {
		t.Errorf("it lacks a frame:\n%s", text)
	}
}

// Any other handler gets one record with a field for each thing that there is, and none for
// what there is not.
func TestLogAsFields(t *testing.T) {
	read := func(r misuse.Violation) (m map[string]any) {
		text := logged(r, func(to *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(to, nil) })
		if err := json.Unmarshal([]byte(text), &m); err != nil {
			t.Fatalf("%v:\n%s", err, text)
		}
		return m
	}
	m := read(written)
	for key, want := range map[string]any{
		"msg": "dewpond: write after Put", "level": "ERROR", "pool": "p", "size": 64., "type": "T", "offset": 8., "field": "A",
		"written": 2., "old": "0001", "new": "6869", "advice": "look there",
	} {
		if m[key] != want {
			t.Errorf("%s is %v, want %v", key, m[key], want)
		}
	}
	if got, ok := m["got"].([]any); !ok || len(got) != 1 || !strings.Contains(got[0].(string), "log_test.go:") {
		t.Errorf("got is %v", m["got"])
	}
	if owners, ok := m["owners"].([]any); !ok || len(owners) != 1 {
		t.Errorf("owners are %v", m["owners"])
	}
	m = read(misuse.Violation{Kind: misuse.Leak, Size: 64, Count: 2, Bytes: 128, Pool: "p"})
	if m["count"] != 2. || m["bytes"] != 128. {
		t.Errorf("%v", m)
	}
	for _, key := range []string{"type", "offset", "field", "written", "old", "new", "holder", "got", "put", "offence", "owners", "advice"} {
		if m[key] != nil {
			t.Errorf("of a leak of blocks %s is %v", key, m[key])
		}
	}
}
