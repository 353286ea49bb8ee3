package service

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"

	"github.com/dewpond/dewpond"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/degrade"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/matching"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/memory"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/upstream"
	"github.com/dewpond/dewpond/examples/matchmaker/region"
	"github.com/dewpond/dewpond/examples/matchmaker/standin"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
	"github.com/dewpond/dewpond/pressure"
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
	transport := upstream.Transport()
	t.Cleanup(transport.CloseIdleConnections)
	source := memory.Dewpond(bytes)
	t.Cleanup(func() { source.Close() })
	return &Service{
		Store: users, Cache: regions, Memory: source, Degrade: new(degrade.State),
		Scorer: &upstream.Scorer{URL: scorer.URL(), Client: &http.Client{Transport: transport}, Memory: source},
	}, redis
}

// What is off is left out and named, and comes back.
func TestMatchDegrades(t *testing.T) {
	s, _ := build(t)
	calls := uint64(0)
	for _, tt := range []struct {
		level      pressure.Level
		candidates int
		off        int
		scored     bool
	}{
		{pressure.Low, 10, 0, true},
		{pressure.Medium, 10, 1, false},
		{pressure.High, 5, 3, false},
		{pressure.Low, 10, 0, true},
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
	lent := &counting{Source: s.Memory}
	s.Memory = lent
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
	write := new(WriteError)
	if _, err := s.PutProfile(t.Context(), u, new(Times)); !errors.As(err, &write) || write.Written != store.Yes {
		t.Errorf("a profile that is written without Redis: %v", err)
	}
	if err := s.Match(t.Context(), 0, new(Times), ignore); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("an unknown user: %v", err)
	}
	if lent.out != 0 || lent.all == 0 {
		t.Errorf("of %d Contexts %d did not come back", lent.all, lent.out)
	}
}

// A counting source counts the Contexts that it has lent, and those that are out.
type counting struct {
	memory.Source
	all, out int
}

func (c *counting) Context() *matching.Context {
	c.all++
	c.out++
	return c.Source.Context()
}

func (c *counting) PutContext(m *matching.Context) {
	c.out--
	c.Source.PutContext(m)
}

// A region whose Redis is down: its matches come from the database, and a profile write fails and
// names it. The other region does not notice. What the failed write was to replace is not read when
// the Redis is back.
func TestRegionDown(t *testing.T) {
	s, east := build(t)
	west := miniredis.RunT(t)
	regions, err := region.New([]region.Nodes{{Name: store.East, Primary: east.Addr()}, {Name: store.West, Primary: west.Addr()}}, region.Options{Timeout: time.Minute, ProbeEvery: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	defer regions.Close()
	s.Cache = regions
	const ofEast, ofWest = 1, 6
	for _, uid := range []int64{ofEast, ofWest} {
		if _, err := s.Profile(t.Context(), uid, new(Times)); err != nil {
			t.Fatal(err)
		}
	}
	east.SetError("LOADING")
	regions.Probe(t.Context())
	for _, uid := range []int64{ofEast, ofWest} {
		if err := s.Match(t.Context(), uid, new(Times), func(m Match) error {
			if len(m.Candidates) != 10 {
				t.Errorf("user %d has %d candidates", uid, len(m.Candidates))
			}
			return nil
		}); err != nil {
			t.Errorf("user %d: %v", uid, err)
		}
	}
	u := store.Seeded(ofEast)
	u.Name = "Ada"
	if _, err := s.PutProfile(t.Context(), u, new(Times)); !errors.Is(err, region.ErrDown) || !strings.Contains(err.Error(), store.East) {
		t.Errorf("a profile write: %v", err)
	}
	queries := s.Store.PoolStats().Acquired
	if w, err := s.Profile(t.Context(), ofWest, new(Times)); err != nil || w != store.Seeded(ofWest) || s.Store.PoolStats().Acquired != queries {
		t.Errorf("the other region's Redis is not read: %+v, %v", w, err)
	}
	w := store.Seeded(ofWest)
	w.Name = "Bea"
	if w, err = s.PutProfile(t.Context(), w, new(Times)); err != nil || w.Name != "Bea" {
		t.Errorf("the other region's profile write: %+v, %v", w, err)
	}
	regions.Down(func(name, _ string, down bool, refused, changes uint64) {
		if down != (name == store.East) || name == store.West && (refused > 0 || changes > 0) {
			t.Errorf("%s: down %v, %d refused, %d changes", name, down, refused, changes)
		}
	})
	east.SetError("")
	regions.Probe(t.Context())
	for range 2 { // from the database, and then from Redis
		if u, err := s.Profile(t.Context(), ofEast, new(Times)); err != nil || u.Name != "Ada" {
			t.Errorf("after the outage: %+v, %v", u, err)
		}
	}
	if !east.Exists(profileKey(ofEast)) {
		t.Error("the Redis that is back is not used")
	}
}

// A reader who is slower than a writer does not put back what was there before.
func TestSlowReaderPutsNothingBack(t *testing.T) {
	s, redis := build(t)
	u := store.Seeded(1)
	u.Name = "Ada"
	if _, err := s.PutProfile(t.Context(), u, new(Times)); err != nil {
		t.Fatal(err)
	}
	if err := cache(t.Context(), s.Cache.Fill, store.Seeded(1), new(Times)); err != nil {
		t.Fatal(err)
	}
	if text, err := redis.Get(profileKey(1)); err != nil || !strings.Contains(text, "Ada") {
		t.Errorf("%s, %v", text, err)
	}
}
