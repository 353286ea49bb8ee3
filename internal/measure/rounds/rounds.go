// Package rounds runs a benchmark's rounds one after the other, contenders taking
// turns.
package rounds

import (
	"context"
	"fmt"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// A Turn is one contender's part in one round.
type Turn struct {
	Contender string
	Round     int // from 0
}

func (t Turn) String() string { return fmt.Sprintf("%s, round %d", t.Contender, t.Round+1) }

// Interleave gives the turns in the order in which they run: round 0 of every
// contender, then round 1 of every contender. Neighbours in time see the machine in
// the same state, so they can be paired. Each round begins with another contender,
// so that none always follows the same one.
func Interleave(contenders []string, rounds int) []Turn {
	var turns []Turn
	for round := range rounds {
		for i := range contenders {
			turns = append(turns, Turn{contenders[(round+i)%len(contenders)], round})
		}
	}
	return turns
}

// A Display is told before each turn.
type Display interface{ Begin(Turn) }

// Run measures the turns one after the other. When ctx ends it returns what was
// measured until then, a round cut short included.
func Run(ctx context.Context, turns []Turn, display Display, measure func(context.Context, Turn) (result.Round, error)) ([]result.Round, error) {
	var done []result.Round
	for _, t := range turns {
		if ctx.Err() != nil {
			break
		}
		display.Begin(t)
		r, err := measure(ctx, t)
		switch {
		case err != nil && ctx.Err() != nil:
			// Cut down before it could say anything.
		case err != nil:
			return done, fmt.Errorf("%v: %w", t, err)
		case r.Ops > 0:
			done = append(done, r)
		}
	}
	return done, nil
}
