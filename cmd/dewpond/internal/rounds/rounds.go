// Package rounds runs a benchmark's rounds, each in a child process of its own:
// a clean heap, resident memory that is the contender's alone, and pools that
// belong to the whole process without another contender's blocks.
package rounds

import (
	"context"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/result"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

// A Plan is the rounds of one benchmark.
type Plan struct {
	Spec       workload.Spec // but for its Contender and Round
	Contenders []string
	Rounds     int
}

// Specs are the plan's rounds in the order in which they run: round 0 of every
// contender, then round 1 of every contender. Neighbours in time share the
// machine's weather, so they can be paired. Each round begins with another
// contender, so that none always follows the same one.
func (p Plan) Specs() []workload.Spec {
	var specs []workload.Spec
	for round := range p.Rounds {
		for i := range p.Contenders {
			s := p.Spec
			s.Round = round
			s.Contender = p.Contenders[(round+i)%len(p.Contenders)]
			specs = append(specs, s)
		}
	}
	return specs
}

// Run runs the specs one after the other; begin is told before each. When ctx
// ends it returns what was measured until then, a round cut short included.
func Run(ctx context.Context, specs []workload.Spec, begin func(workload.Spec)) ([]result.Round, error) {
	var done []result.Round
	for _, s := range specs {
		if ctx.Err() != nil {
			break
		}
		begin(s)
		r, err := child(ctx, s)
		switch {
		case err != nil && ctx.Err() != nil:
			// Cut down before it could say anything.
		case err != nil:
			return done, err
		case r.Ops > 0:
			done = append(done, r)
		}
	}
	return done, nil
}
