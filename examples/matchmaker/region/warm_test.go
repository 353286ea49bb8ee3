package region

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

// As many connections are open to each node as are to be idle before anybody has asked.
func TestWarm(t *testing.T) {
	primary, replica := miniredis.RunT(t), miniredis.RunT(t)
	m, err := New([]Nodes{{Name: "cn-east", Primary: primary.Addr(), Replicas: []string{replica.Addr()}}}, Options{MinIdle: 5, Timeout: time.Minute, ProbeEvery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	nodes := 0
	m.Pools(func(_, node string, s *redis.PoolStats) {
		nodes++
		if s.TotalConns != 5 || s.Hits+s.Misses > 0 {
			t.Errorf("%s has %d connections, and lent %d", node, s.TotalConns, s.Hits+s.Misses)
		}
	})
	if nodes != 2 {
		t.Errorf("%d nodes", nodes)
	}
}

// A primary to which they cannot be opened is named. A replica without is read all the same, and so is one
// that is down.
func TestWarmFails(t *testing.T) {
	primary, gone := miniredis.RunT(t), miniredis.RunT(t)
	nobody := gone.Addr()
	gone.Close()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		nodes Nodes
		says  string
	}{
		{Nodes{Name: "cn-east", Primary: nobody}, "redis of region cn-east: 0 of 5 connections are open"},
		{Nodes{Name: "cn-east", Primary: primary.Addr(), Replicas: []string{nobody}}, ""},
	} {
		m, err := New([]Nodes{c.nodes}, Options{MinIdle: 5, Timeout: time.Minute, ProbeEvery: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		if c.says == "" { // the primary has its own
			for node := range m.fallback.nodes {
				if !node.replica {
					if err := node.warm(t.Context()); err != nil {
						t.Fatal(err)
					}
				}
			}
		}
		err = m.Warm(over)
		if c.says == "" && err != nil || c.says != "" && (!errors.Is(err, context.Canceled) || !strings.HasPrefix(err.Error(), c.says)) {
			t.Errorf("%v: %v, want %q", c.nodes, err, c.says)
		}
		m.Close()
	}
}

func TestMinIdleRefuses(t *testing.T) {
	for _, o := range []Options{{MinIdle: 33}, {MinIdle: -1}, {MaxActive: 8, MaxIdle: 4, MinIdle: 5}} {
		if err := o.Validate(); err == nil || !strings.Contains(err.Error(), "idle connections of at most") {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
