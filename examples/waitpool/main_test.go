package main

import (
	"context"
	"errors"
	"testing"
)

func TestBurst(t *testing.T) {
	const limit, packets = 8, 300
	from := newBounded(limit)
	for name, s := range map[string]source{"bounded": from, "unbounded": newUnbounded()} {
		if handled, err := burst(t.Context(), s, packets); handled != packets || err != nil {
			t.Errorf("%s: %d packets of %d, %v", name, handled, packets, err)
		}
	}
	if s := from.pool.Stats(); s.Misses > limit || s.Gets != s.Puts {
		t.Errorf("%d packets were made, more than %d, or %d gets are not %d puts", s.Misses, limit, s.Gets, s.Puts)
	}
}

// A burst that is canceled while the reader waits gives back all that it has.
func TestCanceled(t *testing.T) {
	from := newBounded(1)
	held, err := from.get(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if handled, err := burst(ctx, from, 10); handled != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("%d packets, %v", handled, err)
	}
	from.put(held)
	if s := from.pool.Stats(); s.Gets != s.Puts {
		t.Errorf("%d gets, %d puts", s.Gets, s.Puts)
	}
}
