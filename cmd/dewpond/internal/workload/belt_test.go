package workload

import (
	"context"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
)

// A passed block is put back by another goroutine than the one that got it, and once. The blocks of
// nop never come back to where they were got from, so it allocates each of them; those of a pool do.
func TestPass(t *testing.T) {
	for name, allocates := range map[string]bool{"nop": true, "syncpool-class": false, "dewpond": false} {
		if raceEnabled && name == "syncpool-class" {
			continue // there sync.Pool drops Puts at random
		}
		sp := spec(Mixed, name)
		sp.Goroutines, sp.Mix, sp.Sample, sp.Pairs = 5, Mix{{64, 100}}, 4, true // the fifth has no other
		sp.Hold = Hold{Pass: true}
		r := round(t, sp)
		if r.Verified != r.Ops {
			t.Errorf("%s: verified %d of %d blocks", name, r.Verified, r.Ops)
		}
		// Each pair of workers may be within one stride of its next sample.
		want, slack := int64(r.Ops)/4, int64(2)
		for _, key := range []string{"get", "put", "pair"} {
			if n := samples(t, r, key); n < want-slack || n > want+slack {
				t.Errorf("%s: %d samples of %s in %d operations, want one in 4", name, n, key, r.Ops)
			}
		}
		if got := r.Allocs >= r.Ops; got != allocates {
			t.Errorf("%s: %d allocations in %d operations", name, r.Allocs, r.Ops)
		}
	}
}

// A pool that gives one block to all is found out also where blocks are passed on.
func TestPassTwoOwners(t *testing.T) {
	if raceEnabled {
		t.Skip("it races by design")
	}
	sp := spec(Mixed, "nop")
	sp.Goroutines, sp.Hold = 2, Hold{Pass: true}
	j := NewJob(context.Background(), sp, func(contender.Options) contender.Pool { return &broken{} })
	if err := newCrew(j).warm(); err == nil || !strings.Contains(err.Error(), "two owners") {
		t.Errorf("a pool that gives one block to all passes: %v", err)
	}
}
