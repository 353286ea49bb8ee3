package load_test

import (
	"context"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/matchmaker"
	"github.com/dewpond/dewpond/instruments/load"
)

func times(a load.Arrivals) []time.Duration {
	var all []time.Duration
	for _, t := range a.Times() {
		all = append(all, t)
	}
	return all
}

func TestArrivals(t *testing.T) {
	constant := load.Arrivals{Rate: 1000, Warmup: time.Second, Duration: 9 * time.Second}
	if all := times(constant); len(all) != 10_000 || all[1] != time.Millisecond || all[9999] != 9999*time.Millisecond {
		t.Errorf("%d constant arrivals, the last at %v", len(all), all[len(all)-1])
	}
	poisson := load.Arrivals{Rate: 1000, Duration: 100 * time.Second, Process: load.Poisson, Seed: 3}
	all := times(poisson)
	// The count has a standard deviation of 316, and the gaps one that is their mean.
	if n := len(all); n < 98_000 || n > 102_000 || !slices.IsSorted(all) {
		t.Errorf("%d Poisson arrivals, in order: %v", n, slices.IsSorted(all))
	}
	var squares float64
	for i := 1; i < len(all); i++ {
		gap := float64(all[i]-all[i-1])/1e6 - 1
		squares += gap * gap
	}
	if deviation := math.Sqrt(squares / float64(len(all))); deviation < 0.97 || deviation > 1.03 {
		t.Errorf("the gaps have a standard deviation of %v ms, want 1", deviation)
	}
	digest := poisson.Digest()
	if again := poisson.Digest(); digest != again || len(digest) != 16 {
		t.Errorf("the digest %s changes to %s", digest, again)
	}
	other := poisson
	other.Seed++
	if poisson.Digest() == other.Digest() {
		t.Error("another seed has the same arrivals")
	}
}

// TestSeed wants a seed to give the same data, thinking, protocols and arrivals, and 1000 requests
// to have many uids.
func TestSeed(t *testing.T) {
	type drawn struct {
		uid      any
		protocol load.Protocol
		thought  time.Duration
	}
	draw := func(seed uint64) (all []drawn, digest string) {
		synctest.Test(t, func(t *testing.T) {
			o := inBubble(t, http.NotFoundHandler())
			var mu sync.Mutex
			byNumber := map[int]drawn{}
			start := time.Now()
			s := load.Scenario{
				Target:    bubbleURL,
				Arrivals:  load.Arrivals{Rate: 1000, Duration: time.Second, Process: load.Poisson, Seed: seed},
				Protocols: []load.Share{{Protocol: load.HTTP1, Weight: 1}, {Protocol: load.H2C, Weight: 1}},
				Data:      []load.Data{load.Integers("uid", 1000, 9999)},
				Session: []load.Step{
					{Do: load.Think{Median: 300 * time.Millisecond, P95: 1200 * time.Millisecond}},
					{Name: "see", Do: load.ActionFunc(func(_ context.Context, c *load.Call) error {
						uid, _ := c.Value("uid")
						mu.Lock()
						defer mu.Unlock()
						byNumber[c.Number] = drawn{uid, c.Protocol, c.Intended().Sub(start)}
						return nil
					})},
				},
			}
			r := run(t, s, o)
			for i := range int(r.Offered) {
				all = append(all, byNumber[i])
			}
			digest = r.Digest
		})
		return all, digest
	}
	first, digest := draw(1)
	again, digestAgain := draw(1)
	if !slices.Equal(first, again) || digest != digestAgain {
		t.Error("the same seed gives other sessions")
	}
	other, _ := draw(2)
	if slices.Equal(first, other) {
		t.Error("another seed gives the same sessions")
	}
}

// TestUids is vegeta's shell sample, which asks for one uid a thousand times.
func TestUids(t *testing.T) {
	target := matchmaker.Start(false)
	defer target.Close()
	s := one(target.URL, load.Request{Method: "POST", URL: "/api/v1/match", JSON: map[string]any{"uid": "${uid}"}})
	s.Arrivals = load.Arrivals{Rate: 1000, Duration: time.Second}
	s.Data = []load.Data{load.Integers("uid", 1000, 9999)}
	if r := run(t, s, load.Options{}); r.Finished != 1000 || len(target.Uids()) < 900 {
		t.Errorf("%d requests had %d uids: %v", r.Finished, len(target.Uids()), r.Messages)
	}
}
