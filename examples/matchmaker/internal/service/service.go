// Package service is what the service does, whatever the protocol that asks for it: matches,
// profiles and recommendations.
package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/degrade"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/memory"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/upstream"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// A Service answers from a store, regions and a scorer. All fields must be set.
type Service struct {
	Store   store.Store
	Cache   Cache
	Memory  memory.Source
	Scorer  *upstream.Scorer
	Degrade *degrade.State
}

// A Cache keeps values by key, for each region. Package region has one, and says what each method does.
type Cache interface {
	Get(ctx context.Context, region, key string) ([]byte, error)
	Set(ctx context.Context, region, key string, value []byte, life time.Duration) error
	Fill(ctx context.Context, region, key string, value []byte, life time.Duration) error
}

// Times are where the time of a request goes.
type Times struct {
	store.Times
	Redis, Score time.Duration
}

// profileLife is how long a profile stays in Redis.
const profileLife = 10 * time.Minute

func profileKey(uid int64) string { return fmt.Sprintf("matchmaker:user:%d", uid) }

// Profile returns a user: from Redis, else from the store, and then Redis has it too. A Redis
// that does not answer costs no more than its time. What a user has written is read at once, for
// the region knows which replicas have it.
func (s *Service) Profile(ctx context.Context, uid int64, t *Times) (u store.User, err error) {
	begun := time.Now()
	text, redisErr := s.Cache.Get(ctx, store.RegionOf(uid), profileKey(uid))
	t.Redis += time.Since(begun)
	if redisErr == nil && text != nil && json.Unmarshal(text, &u) == nil {
		return u, nil
	}
	if u, err = s.Store.User(store.WithTimes(ctx, &t.Times), uid); err != nil {
		return u, err
	}
	if redisErr == nil {
		_ = cache(ctx, s.Cache.Fill, u, t) // read here again next time
	}
	return u, nil
}

// A WriteError says what a write that failed has left.
type WriteError struct {
	Written store.Written
	Err     error
}

func (e *WriteError) Error() string {
	switch e.Written {
	case store.Yes:
		return "the profile is written, but what is kept of it elsewhere is not renewed: " + e.Err.Error()
	case store.Unknown:
		return "it is not known whether the profile is written: " + e.Err.Error()
	}
	return "the profile is not written: " + e.Err.Error()
}

// Unwrap returns what went wrong.
func (e *WriteError) Unwrap() error { return e.Err }

// PutProfile writes a user to the store and to the region's primary. An error is a [WriteError], or
// [store.ErrNotFound].
func (s *Service) PutProfile(ctx context.Context, u store.User, t *Times) (store.User, error) {
	u, err := s.Store.PutUser(store.WithTimes(ctx, &t.Times), u)
	if errors.Is(err, store.ErrNotFound) {
		return u, err
	}
	if err != nil {
		return u, &WriteError{store.WrittenBy(err), err}
	}
	if err := cache(ctx, s.Cache.Set, u, t); err != nil {
		return u, &WriteError{store.Yes, err}
	}
	return u, nil
}

func cache(ctx context.Context, set func(ctx context.Context, region, key string, value []byte, life time.Duration) error, u store.User, t *Times) error {
	text, err := json.Marshal(u)
	if err != nil {
		return err
	}
	begun := time.Now()
	defer func() { t.Redis += time.Since(begun) }()
	return set(ctx, u.Region, profileKey(u.UID), text, profileLife)
}

// mostPopular is how many users are recommended.
const mostPopular = 20

// Recommendations returns the popular users of a user's region as a JSON array.
func (s *Service) Recommendations(ctx context.Context, uid int64, t *Times) ([]byte, error) {
	u, err := s.Profile(ctx, uid, t)
	if err != nil {
		return nil, err
	}
	key := "matchmaker:popular:" + u.Region
	begun := time.Now()
	text, redisErr := s.Cache.Get(ctx, u.Region, key)
	t.Redis += time.Since(begun)
	if redisErr == nil && text != nil {
		return text, nil
	}
	uids, err := s.Store.Popular(store.WithTimes(ctx, &t.Times), u.Region, mostPopular)
	if err != nil {
		return nil, err
	}
	if text, err = json.Marshal(uids); err == nil && redisErr == nil {
		begun := time.Now()
		_ = s.Cache.Fill(ctx, u.Region, key, text, profileLife) // asked again next time
		t.Redis += time.Since(begun)
	}
	return text, err
}
