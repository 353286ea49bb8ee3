package main

import (
	"errors"
	"os"
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/kit/interrupt"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// A soak that is not flat ends with an error that is no usage error. An interrupted soak ends with
// what has interrupted it.
func TestConclude(t *testing.T) {
	doc := func(flat bool) bench.Document {
		return bench.Document{Contenders: []bench.Contender{{
			Name:    "dewpond",
			Figures: map[string]result.Figure{"stranded_bytes": {Max: 64}},
			Soak:    &bench.Soak{Flat: map[string]bool{"stranded_bytes": flat}},
		}}}
	}
	if err := conclude(doc(true), nil); err != nil {
		t.Errorf("all is flat, but it fails: %v", err)
	}
	err := conclude(doc(false), nil)
	if err == nil || errors.As(err, new(command.UsageError)) || errors.As(err, new(interrupt.Error)) {
		t.Errorf("a soak that is not flat ends with %v", err)
	}
	if err := conclude(doc(false), interrupt.Error{Signal: os.Interrupt}); !errors.As(err, new(interrupt.Error)) {
		t.Errorf("an interrupted soak ends with %v", err)
	}
}
