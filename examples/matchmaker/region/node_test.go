package region

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"

	"github.com/dewpond/dewpond/examples/matchmaker/liveness"
)

// one returns a region on a server that can be made to fail. Nothing is probed by itself.
func one(t *testing.T, health string, every time.Duration) (*miniredis.Miniredis, *Map) {
	t.Helper()
	server := miniredis.RunT(t)
	m, err := New([]Nodes{{Name: "cn-east", Primary: server.Addr()}}, Options{Timeout: time.Minute, Health: health, ProbeEvery: every})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return server, m
}

// down is whether the one node is, and how many commands were refused.
func down(m *Map) (down bool, refused uint64) {
	m.Down(func(_, _ string, d bool, r, _ uint64) { down, refused = d, r })
	return down, refused
}

// Three failures in a row mark a node down: then nothing is asked of it until a probe has found it.
func TestFastFail(t *testing.T) {
	server, m := one(t, liveness.Both, time.Hour)
	get := func() error {
		_, err := m.Get(t.Context(), "cn-east", "key")
		return err
	}
	server.SetError("LOADING")
	for i := range 3 {
		if d, _ := down(m); d {
			t.Fatalf("it is down after %d failures", i)
		}
		if err := get(); err == nil || errors.Is(err, ErrDown) {
			t.Fatalf("failure %d: %v", i, err)
		}
	}
	commands := server.CommandCount()
	for range 10 {
		if err := get(); !errors.Is(err, ErrDown) || !strings.Contains(err.Error(), "cn-east") {
			t.Errorf("a node that is down: %v, want that and its region", err)
		}
	}
	if d, refused := down(m); !d || refused != 10 || server.CommandCount() != commands {
		t.Errorf("down %v, %d refused, and %d commands came", d, refused, server.CommandCount()-commands)
	}
	m.Probe(t.Context())
	if d, _ := down(m); !d {
		t.Error("a probe that fails brings it back")
	}
	server.SetError("")
	m.Probe(t.Context())
	if err := get(); err != nil {
		t.Errorf("after a probe that was answered: %v", err)
	}
}

// Failures that are not in a row mark nothing down, nor does a caller who gives up, or one who gets
// no connection.
func TestNotDown(t *testing.T) {
	server, m := one(t, liveness.FastFail, time.Hour)
	for range 5 {
		for _, message := range []string{"LOADING", "LOADING", ""} {
			server.SetError(message)
			m.Get(t.Context(), "cn-east", "key")
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 5 {
		m.Get(ctx, "cn-east", "key")
	}
	for range 5 { // all connections are lent for as long as one waits
		m.fallback.primary.do(t.Context(), func(*redis.Client) error { return redis.ErrPoolTimeout })
	}
	if d, refused := down(m); d || refused > 0 {
		t.Errorf("down %v, %d refused", d, refused)
	}
}

// Each mode does its own part, and off does nothing.
func TestModes(t *testing.T) {
	for _, tt := range []struct {
		health          string
		byUse, byProbe  bool // marks it down
		triedByACommand bool // and brings it back
	}{
		{liveness.Both, true, true, false},
		{liveness.FastFail, true, true, true},
		{liveness.Ping, false, true, false},
		{liveness.Off, false, false, true},
	} {
		server, m := one(t, tt.health, time.Hour)
		server.SetError("LOADING")
		for range 3 {
			m.Get(t.Context(), "", "key")
		}
		if d, _ := down(m); d != tt.byUse {
			t.Errorf("%s: after 3 failures it is down: %v", tt.health, d)
		}
		if liveness.Pings(tt.health) {
			m.Probe(t.Context())
		}
		if d, _ := down(m); d != tt.byProbe {
			t.Errorf("%s: after what the background does it is down: %v", tt.health, d)
		}
		server.SetError("")
		n := m.fallback.primary
		n.tried.Store(0) // as if it were long ago
		_, err := m.Get(t.Context(), "", "key")
		if (err == nil) != tt.triedByACommand {
			t.Errorf("%s: a command that comes later: %v", tt.health, err)
		}
	}
}

// The background probes by itself.
func TestProbes(t *testing.T) {
	server, m := one(t, liveness.Ping, time.Millisecond)
	server.SetError("LOADING")
	for d := false; !d; d, _ = down(m) {
	}
	server.SetError("")
	for d := true; d; d, _ = down(m) {
	}
}
