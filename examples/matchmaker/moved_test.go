package main

import (
	"errors"
	"strings"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/command"
)

// The commands that were here say where they are, with what they were given.
func TestMovedCommands(t *testing.T) {
	for _, args := range []string{"compare", "compare --quick --only all --json x", "pools --rate 300", "outage", "clients --help", "pressure"} {
		err := run(t.Context(), strings.Fields(args))
		if !errors.As(err, new(command.UsageError)) || !strings.HasSuffix(err.Error(), ": go run ./instruments/lab "+args) {
			t.Errorf("%s: %v", args, err)
		}
	}
}
