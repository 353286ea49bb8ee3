package main

import (
	"context"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
	"github.com/dewpond/dewpond/instruments/kit/child"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/rounds"
)

// measure runs one turn in a child process. So the heap is clean, the resident memory is the
// contender's alone, and pools of the whole process hold no other contender's blocks.
func (p plan) measure(ctx context.Context, turn rounds.Turn) (result.Round, error) {
	spec := p.spec
	spec.Contender, spec.Round = turn.Contender, turn.Round
	var r result.Round
	err := child.Run(ctx, []string{"round"}, spec, &r)
	return r, err
}

// roundCommand is the child process.
type roundCommand struct{}

func (roundCommand) Run() error {
	return child.Serve(func(ctx context.Context, spec workload.Spec) (result.Round, error) {
		scenario, err := findScenario(spec.Scenario)
		if err != nil {
			return result.Round{}, err
		}
		return workload.Run(ctx, scenario, spec)
	})
}
