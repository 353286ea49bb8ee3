package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/signal"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

// roundCommand is the child process: it reads a workload.Spec from standard input
// and prints the result.Round on standard output.
type roundCommand struct{}

func (roundCommand) Run() error {
	// Ctrl-C reaches the whole process group: the round ends early, with what it
	// has, and leaves the reporting to the parent.
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var spec workload.Spec
	if err := json.NewDecoder(os.Stdin).Decode(&spec); err != nil {
		return fmt.Errorf("round: standard input is no spec: %w", err)
	}
	r, err := workload.Run(ctx, spec)
	if err != nil {
		return err
	}
	return json.NewEncoder(os.Stdout).Encode(r)
}
