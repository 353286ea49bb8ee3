package load_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/report"
)

// TestForeignTexts has a target that tries to write to the terminal, and repeats a secret.
func TestForeignTexts(t *testing.T) {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		c, err := websocket.Accept(w, q, nil)
		if err != nil {
			return
		}
		c.Close(4003, "\x1b]0;title\x07 not\nfor "+q.Header.Get("Authorization"))
	}))
	defer target.Close()
	s := one(target.URL, load.Socket{URL: "/", Messages: 1})
	s.Header = http.Header{"Authorization": {"Bearer CREDENTIALS"}}
	r := run(t, s, load.Options{})
	var text, page, data bytes.Buffer
	for _, err := range []error{report.WriteText(&text, &r), report.WriteHTML(&page, &r), r.WriteJSON(&data)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	for name, got := range map[string]string{"text": text.String(), "page": page.String(), "JSON": data.String()} {
		if !strings.Contains(got, "0;title") || !strings.Contains(got, `not`) || !strings.Contains(got, "…") {
			t.Errorf("the %s lacks the reason: %v", name, r.Messages)
		}
		if strings.ContainsAny(got, "\x1b\x07") || strings.Contains(got, "CREDENTIALS") {
			t.Errorf("the %s has what it must not: %q", name, r.Messages)
		}
	}
	if strings.Contains(text.String(), "not\nfor") {
		t.Error("a text begins a line of its own")
	}
}
