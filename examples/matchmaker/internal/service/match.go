package service

import (
	"context"
	"slices"
	"time"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/degrade"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/matching"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/upstream"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// A Match is whom a user is proposed, the best first.
type Match struct {
	UID        int64
	Region     string
	Candidates []matching.Candidate // of a pooled Context
	Degraded   []string             // features that were off
}

// spread is below what uid the search for candidates begins: from there on, every region has more
// than enough.
const spread = store.Users * 3 / 4

// Match finds candidates for a user and calls use with them. The Match, and all in it, is valid
// until use returns.
func (s *Service) Match(ctx context.Context, uid int64, t *Times, use func(Match) error) error {
	u, err := s.Profile(ctx, uid, t)
	if err != nil {
		return err
	}
	c := s.Memory.Context()
	defer s.Memory.PutContext(c)
	c.Filter(matching.Not, uid)
	c.Filter(matching.MinAge, int64(u.MinAge))
	c.Filter(matching.MaxAge, int64(u.MaxAge))
	q := store.Query{Region: u.Region, MinAge: u.MinAge, MaxAge: u.MaxAge, After: uid * 7919 % spread, Most: matching.Most}
	err = s.Store.Candidates(store.WithTimes(ctx, &t.Times), q, func(uid int64, name string, age int32, interests int64) {
		c.Candidates = append(c.Candidates, matching.Candidate{UID: uid, Name: name, Age: age, Interests: interests})
	})
	if err != nil {
		return err
	}
	off := s.Degrade.Off()
	if len(c.Candidates) > 0 && !slices.Contains(off, degrade.Score) {
		begun := time.Now()
		err := s.score(ctx, u, c.Candidates)
		t.Score += time.Since(begun)
		if err != nil {
			return err
		}
	}
	best := matching.Best
	if slices.Contains(off, degrade.Candidates) {
		best /= 2
	}
	return use(Match{uid, u.Region, c.Pick(best), off})
}

// score asks the scorer. What it needs for that ends with it.
func (s *Service) score(ctx context.Context, u store.User, candidates []matching.Candidate) error {
	pad := s.Memory.Pad(len(candidates))
	defer pad.Close()
	for i, c := range candidates {
		pad.People[i] = matching.Person{Age: c.Age, Interests: c.Interests}
	}
	q := upstream.Question{User: matching.Person{Age: u.Age, Interests: u.Interests}, Candidates: pad.People}
	if err := s.Scorer.Score(ctx, q, pad.Scores); err != nil {
		return err
	}
	for i := range candidates {
		candidates[i].Score = pad.Scores[i]
	}
	return nil
}
