package main

import (
	"errors"
	"testing"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// A soak that is not flat ends with an error that is no usage error. An interrupted soak ends with
// errInterrupted.
func TestConclude(t *testing.T) {
	doc := func(flat bool) result.Document {
		return result.Document{Contenders: []result.Contender{{
			Name:    "dewpond",
			Figures: map[string]result.Figure{"stranded_bytes": {Max: 64}},
			Soak:    &result.Soak{Flat: map[string]bool{"stranded_bytes": flat}},
		}}}
	}
	if err := conclude(doc(true), false); err != nil {
		t.Errorf("all is flat, but it fails: %v", err)
	}
	err := conclude(doc(false), false)
	if err == nil || errors.As(err, new(usageError)) || errors.Is(err, errInterrupted) {
		t.Errorf("a soak that is not flat ends with %v", err)
	}
	if err := conclude(doc(false), true); !errors.Is(err, errInterrupted) {
		t.Errorf("an interrupted soak ends with %v", err)
	}
}
