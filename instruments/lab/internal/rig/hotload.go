package rig

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/figure"

	"github.com/dewpond/dewpond/examples/matchmaker/near"
	"github.com/dewpond/dewpond/examples/matchmaker/region"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// A heated is a Redis that is asked for a key, and what asks it, as the service does.
type heated struct {
	address, secret string
	life            time.Duration // of the local cache
	server          *redisNode
	key             string
}

// A heat is one row: what is asked, and what came of it.
type heat struct {
	rate           float64 // asked, a second
	spread, cached bool

	answered float64 // a second
	failed   uint64
	why      error   // of one that failed
	p50, p99 float64 // ns
	redis    redisWindow
}

// spreadKeys is how many keys there are where the reads are not all of one.
const spreadKeys = 10_000

// spreadKey is one of them.
func spreadKey(i int) string { return fmt.Sprintf("matchmaker:lab:spread:%d", i) }

// life is how long what this command puts into Redis stays there, should it not come to take it out again.
const life = time.Hour

// fill puts the key and the others into Redis.
func (h *heated) fill(ctx context.Context, key string, value []byte) error {
	h.key = key
	pipe := h.server.client.Pipeline()
	pipe.Set(ctx, key, value, life)
	for i := range spreadKeys {
		pipe.Set(ctx, spreadKey(i), value, life)
	}
	_, err := pipe.Exec(ctx)
	return err
}

// clear takes them out again.
func (h *heated) clear(ctx context.Context) error {
	keys := []string{h.key}
	for i := range spreadKeys {
		keys = append(keys, spreadKey(i))
	}
	return h.server.client.Del(ctx, keys...).Err()
}

// Callers of the load, each with arrivals of its own, and the connections that they share.
const (
	hotCallers     = 512
	hotConnections = 64
)

// A getter is what a caller asks.
type getter interface {
	Get(ctx context.Context, region, key string) ([]byte, error)
}

// measure asks at the row's rate, by a client as the service has it, for a tenth of the duration and then
// for all of it, which counts.
func (h *heated) measure(ctx context.Context, r *heat, duration time.Duration) error {
	m, err := region.New([]region.Nodes{{Name: store.East, Primary: h.address}}, region.Options{MaxActive: hotConnections, MinIdle: hotConnections, Timeout: time.Second, Password: h.secret})
	if err != nil {
		return err
	}
	defer m.Close()
	if err := m.Warm(ctx); err != nil {
		return err
	}
	var from getter = m
	if r.cached {
		cache := near.New(m, h.life)
		defer cache.Close()
		from = cache
	}
	if err := h.ask(ctx, from, &heat{rate: r.rate, spread: r.spread}, duration/10); err != nil {
		return err
	}
	before, err := h.server.counts(ctx)
	if err != nil {
		return err
	}
	if err := h.ask(ctx, from, r, duration); err != nil {
		return err
	}
	after, err := h.server.counts(ctx)
	if err != nil {
		return err
	}
	r.redis = before.until(after)
	return ctx.Err()
}

// ask has the callers ask. An answer's time is from when it was due, where its caller was still busy then,
// and from when the caller asked, where it slept: that it woke late is not Redis's.
func (h *heated) ask(ctx context.Context, from getter, r *heat, duration time.Duration) error {
	var (
		asking           sync.WaitGroup
		answered, failed atomic.Uint64
		why              atomic.Pointer[error]
		recorder         = kit.NewRecorder()
		begun            = time.Now()
		end              = begun.Add(duration)
	)
	for i := range hotCallers {
		asking.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			due := begun
			for first := true; ; first = false {
				due = due.Add(time.Duration(random.ExpFloat64() * hotCallers / r.rate * 1e9))
				if !due.Before(end) || ctx.Err() != nil {
					return
				}
				at := due
				if time.Until(due) > 0 {
					time.Sleep(time.Until(due))
					at = time.Now()
				}
				if !first && time.Now().After(end) {
					return // what is still due then is not answered in time
				}
				key := h.key
				if r.spread {
					key = spreadKey(random.IntN(spreadKeys))
				}
				value, err := from.Get(ctx, store.East, key)
				if err == nil && value == nil {
					err = errors.New("the key is not there")
				}
				if err != nil {
					failed.Add(1)
					why.Store(&err)
					continue
				}
				answered.Add(1)
				recorder.Record(i, time.Since(at))
			}
		})
	}
	asking.Wait()
	r.answered, r.failed = float64(answered.Load())/time.Since(begun).Seconds(), failed.Load()
	times := recorder.Take()
	r.p50, r.p99 = float64(times.ValueAtPercentile(50)), float64(times.ValueAtPercentile(99))
	if err := why.Load(); err != nil {
		r.why = *err
	}
	if answered.Load() == 0 {
		return errors.Join(errors.New("no read was answered"), r.why, ctx.Err())
	}
	return ctx.Err()
}

// follows reports whether what was asked was answered, nearly.
func (r heat) follows() bool { return r.answered >= follows*r.rate }

// each is how much of its processor Redis needs for a read, in ns; 0 where it does not say.
func (r heat) each() float64 {
	if r.redis.share <= 0 || r.redis.reads <= 0 {
		return 0
	}
	return r.redis.share / r.redis.reads * 1e9
}

func (r heat) cells() []string {
	of, cache := "the key", "no"
	if r.spread {
		of = fmt.Sprintf("%d keys", spreadKeys)
	}
	if r.cached {
		cache = "yes"
	}
	failed := fmt.Sprint(r.failed)
	if r.why != nil {
		failed += fmt.Sprintf(" (%v)", r.why)
	}
	return []string{of, cache, figure.Count(r.rate), figure.Count(r.answered), failed, figure.Duration(r.p50), figure.Duration(r.p99), figure.Count(r.redis.reads), ofOne(r.redis.share)}
}

// Pipelines that fill Redis's processor, and the reads that each sends at once.
const (
	pipes   = 8
	atOnce  = 64
	pipeFor = time.Second
)

// flooded asks for the key as fast as pipelines can.
func (h *heated) flooded(ctx context.Context, most time.Duration) (r heat, err error) {
	var (
		asking   sync.WaitGroup
		answered atomic.Uint64
		failures [pipes]error
		begun    = time.Now()
		end      = begun.Add(min(most, pipeFor))
	)
	before, err := h.server.counts(ctx)
	if err != nil {
		return r, err
	}
	for i := range pipes {
		asking.Go(func() {
			s, err := askRedis(ctx, h.address, h.secret)
			if err != nil {
				failures[i] = err
				return
			}
			defer s.close()
			for first := true; (first || time.Now().Before(end)) && failures[i] == nil; first = false {
				pipe := s.client.Pipeline()
				for range atOnce {
					pipe.Get(ctx, h.key)
				}
				if _, failures[i] = pipe.Exec(ctx); failures[i] == nil {
					answered.Add(atOnce)
				}
			}
		})
	}
	asking.Wait()
	after, err := h.server.counts(ctx)
	if err = errors.Join(append(failures[:], err, ctx.Err())...); err != nil {
		return r, err
	}
	r.answered = float64(answered.Load()) / time.Since(begun).Seconds()
	r.redis = before.until(after)
	return r, nil
}
