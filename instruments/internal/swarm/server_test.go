package swarm

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestListen wants a server that takes only agents with its token, and agents that take only the
// server of their token.
func TestListen(t *testing.T) {
	s, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if !strings.HasPrefix(s.URL, "tls://127.0.0.1:") {
		t.Errorf("it is at %s", s.URL)
	}
	right := parseToken(s.Token)
	for name, other := range map[string]token{
		"no token":           {},
		"another secret":     {"secret", right.pin},
		"the secret alone":   {right.secret, ""},
		"another's pin":      {right.secret, strings.Repeat("0", len(right.pin))},
		"no secret, but pin": {"", right.pin},
	} {
		text := other.String()
		if other == (token{}) {
			text = ""
		}
		if nc, err := connect(s.URL, text); err == nil {
			nc.Close()
			t.Errorf("who has %s comes in", name)
		}
	}
	target, requests := counted(t)
	p := planOf(target, 100, time.Second)
	own := meeting{url: s.URL, token: s.Token, within: true}
	own.agents(t, 2, AgentOptions{Once: true})
	r, err := Run(t.Context(), p, Options{}.at(own, 2))
	if err != nil {
		t.Fatal(err)
	}
	add(t, p, r, requests, 2)

	for _, address := range []string{"127.0.0.1", "127.0.0.1:x", "127.0.0.1:65536", strings.TrimPrefix(s.URL, "tls://")} {
		if s, err := Listen(address); err == nil {
			s.Close()
			t.Errorf("it listens on %s", address)
		}
	}
}

// TestServeClears wants a server to remove the directory of an older one that was killed while it began,
// no other, and to leave none itself.
func TestServeClears(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir()) // on Windows the system's own
	old, now, other := filepath.Join(os.TempDir(), directory+"old"), filepath.Join(os.TempDir(), directory+"now"), filepath.Join(os.TempDir(), "other")
	for _, dir := range []string{old, now, other} {
		if err := os.MkdirAll(filepath.Join(dir, "jetstream"), 0o700); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(dir) })
	}
	for _, dir := range []string{old, other} {
		if err := os.Chtimes(dir, time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	s, err := Serve()
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if left, err := filepath.Glob(filepath.Join(os.TempDir(), directory+"*")); err != nil || fmt.Sprint(left) != fmt.Sprint([]string{now}) {
		t.Errorf("%v: there are %v", err, left)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}
