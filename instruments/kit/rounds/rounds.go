// Package rounds runs the rounds of a benchmark one after the other; the contenders take turns.
package rounds

import (
	"context"
	"fmt"

	"github.com/dewpond/dewpond/instruments/kit/result"
)

// A Turn is one contender's part in one round.
type Turn struct {
	Scenario  string // empty where there is only one
	Contender string
	Round     int // from 0
}

func (t Turn) String() string {
	s := fmt.Sprintf("%s, round %d", t.Contender, t.Round+1)
	if t.Scenario != "" {
		s = t.Scenario + ": " + s
	}
	return s
}

// Interleave returns the turns in the order in which they run: round 0 of every contender, then
// round 1 of every contender. Neighbours in time see the machine in the same state, so they can
// be paired. Each round begins with another contender, so that none always follows the same one.
func Interleave(contenders []string, rounds int) []Turn {
	var turns []Turn
	for round := range rounds {
		for i := range contenders {
			turns = append(turns, Turn{Contender: contenders[(round+i)%len(contenders)], Round: round})
		}
	}
	return turns
}

// Tour returns the turns of several scenarios in the order in which they run: round 0 of every
// contender in every scenario, then round 1, so that an interrupted tour has some rounds of each.
func Tour(scenarios, contenders []string, rounds int) []Turn {
	var turns []Turn
	all := Interleave(contenders, rounds)
	for round := range rounds {
		for _, scenario := range scenarios {
			for _, t := range all[round*len(contenders) : (round+1)*len(contenders)] {
				t.Scenario = scenario
				turns = append(turns, t)
			}
		}
	}
	return turns
}

// A Display shows each turn before it starts.
type Display interface{ Begin(Turn) }

// Run measures the turns one after the other. If ctx ends, it returns what was measured until
// then, including a round that was cut short.
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
			// Cut before it had an answer.
		case err != nil:
			return done, fmt.Errorf("%v: %w", t, err)
		case r.Ops > 0:
			done = append(done, r)
		}
	}
	return done, nil
}
