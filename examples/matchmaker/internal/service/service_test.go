package service

import (
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/dewpond/dewpond"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/degrade"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/matching"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/memory"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/region"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/store"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/upstream"
)

// build returns a service on stand-ins in this process.
func build(t *testing.T) (*Service, *miniredis.Miniredis) {
	t.Helper()
	p, err := standin.NewPostgres()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	scorer, err := standin.NewScorer()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(scorer.Close)
	o := store.PoolOptions{Timeout: time.Hour}
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	users, err := store.Open(t.Context(), p.DSN(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(users.Close)
	redis := miniredis.RunT(t)
	regions, err := region.New([]region.Nodes{{Name: store.East, Primary: redis.Addr()}}, region.Options{Timeout: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { regions.Close() })
	bytes := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
	t.Cleanup(func() { bytes.Close() })
	contexts := dewpond.MustPool(dewpond.PoolOptions[matching.Context]{Name: t.Name(), New: matching.New})
	t.Cleanup(func() { contexts.Close() })
	transport := upstream.Transport()
	t.Cleanup(transport.CloseIdleConnections)
	source, err := memory.Of(memory.Dewpond, bytes)
	if err != nil {
		t.Fatal(err)
	}
	return &Service{
		Store: users, Regions: regions, Degrade: new(degrade.State), Bytes: bytes, Contexts: contexts,
		Scorer: &upstream.Scorer{URL: scorer.URL(), Client: &http.Client{Transport: transport}, Memory: source},
	}, redis
}

// What is off is left out and named, and comes back.
func TestMatchDegrades(t *testing.T) {
	s, _ := build(t)
	calls := uint64(0)
	for _, tt := range []struct {
		level      dewpond.Level
		candidates int
		off        int
		scored     bool
	}{
		{dewpond.PressureLow, 10, 0, true},
		{dewpond.PressureMedium, 10, 1, false},
		{dewpond.PressureHigh, 5, 3, false},
		{dewpond.PressureLow, 10, 0, true},
	} {
		s.Degrade.Set(tt.level)
		err := s.Match(t.Context(), 7, new(Times), func(m Match) error {
			if len(m.Candidates) != tt.candidates || len(m.Degraded) != tt.off {
				t.Errorf("%v: %d candidates without %v, want %d without %d", tt.level, len(m.Candidates), m.Degraded, tt.candidates, tt.off)
			}
			for i, c := range m.Candidates {
				if (c.Score > 0) != tt.scored {
					t.Errorf("%v: the score is %v", tt.level, c.Score)
				}
				if !tt.scored && i > 0 && c.UID < m.Candidates[i-1].UID {
					t.Errorf("%v: the database's order is lost", tt.level)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if tt.scored {
			calls++
		}
		if n := s.Scorer.Requests.Load(); n != calls {
			t.Errorf("%v: the scorer was asked %d times, want %d", tt.level, n, calls)
		}
	}
}

// Redis that goes away costs matches nothing, and profile writes an error; another database error
// gives the Context back.
func TestRedisGoesAway(t *testing.T) {
	s, redis := build(t)
	ignore := func(Match) error { return nil }
	if err := s.Match(t.Context(), 7, new(Times), ignore); err != nil {
		t.Fatal(err)
	}
	redis.Close()
	if err := s.Match(t.Context(), 7, new(Times), ignore); err != nil {
		t.Errorf("a match without Redis: %v", err)
	}
	if _, err := s.Recommendations(t.Context(), 7, new(Times)); err != nil {
		t.Errorf("recommendations without Redis: %v", err)
	}
	u, _ := s.Store.User(t.Context(), 7)
	if _, err := s.PutProfile(t.Context(), u, new(Times)); err == nil {
		t.Error("a profile is written without Redis, and nobody says so")
	}
	if err := s.Match(t.Context(), 0, new(Times), ignore); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown user: %v", err)
	}
	if st := s.Contexts.(*dewpond.Pool[matching.Context]).Stats(); st.Gets != st.Puts {
		t.Errorf("%d Contexts were taken and %d came back", st.Gets, st.Puts)
	}
}
