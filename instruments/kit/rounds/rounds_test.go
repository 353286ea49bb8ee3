package rounds

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/dewpond/dewpond/instruments/kit/result"
)

// Each round has every contender, and begins with another one.
func TestInterleave(t *testing.T) {
	names := []string{"a", "b", "c"}
	turns := Interleave(names, 4)
	if len(turns) != 12 {
		t.Fatalf("%d turns, want 12", len(turns))
	}
	for i, got := range turns {
		round, place := i/3, i%3
		if want := (Turn{Contender: names[(round+place)%3], Round: round}); got != want {
			t.Errorf("turn %d is %v, want %v", i, got, want)
		}
	}
}

// Round 0 of a tour has all scenarios, each with all contenders; then comes round 1.
func TestTour(t *testing.T) {
	turns := Tour([]string{"x", "y"}, []string{"a", "b"}, 2)
	want := []Turn{{"x", "a", 0}, {"x", "b", 0}, {"y", "a", 0}, {"y", "b", 0}, {"x", "b", 1}, {"x", "a", 1}, {"y", "b", 1}, {"y", "a", 1}}
	if !slices.Equal(turns, want) {
		t.Errorf("the turns are %v, want %v", turns, want)
	}
	if got, want := turns[2].String(), "y: a, round 1"; got != want {
		t.Errorf("a turn is %q, want %q", got, want)
	}
}

// A log is a display that remembers.
type log []Turn

func (l *log) Begin(t Turn) { *l = append(*l, t) }

func TestRun(t *testing.T) {
	broken := errors.New("broken")
	for _, test := range []struct {
		name       string
		stop       int // the turn in which ctx ends
		answer     func(i int) (result.Round, error)
		begun, got int
		fails      bool
	}{
		{"all", -1, func(int) (result.Round, error) { return result.Round{Ops: 1}, nil }, 4, 4, false},
		{"one measured nothing", -1, func(i int) (result.Round, error) { return result.Round{Ops: uint64(i)}, nil }, 4, 3, false},
		{"one fails", -1, func(i int) (result.Round, error) {
			if i == 2 {
				return result.Round{}, broken
			}
			return result.Round{Ops: 1}, nil
		}, 3, 2, true},
		{"interrupted, and says what it has", 1, func(int) (result.Round, error) { return result.Round{Ops: 1}, nil }, 2, 2, false},
		{"interrupted, and says nothing", 1, func(i int) (result.Round, error) {
			if i == 1 {
				return result.Round{}, broken
			}
			return result.Round{Ops: 1}, nil
		}, 2, 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			turns := Interleave([]string{"a", "b"}, 2)
			var begun log
			i := -1
			done, err := Run(ctx, turns, &begun, func(_ context.Context, turn Turn) (result.Round, error) {
				if i++; i == test.stop {
					cancel()
				}
				r, err := test.answer(i)
				r.Contender, r.Round = turn.Contender, turn.Round
				return r, err
			})
			if !slices.Equal(begun, turns[:test.begun]) || len(done) != test.got || errors.Is(err, broken) != test.fails {
				t.Errorf("begun %v, %d rounds, error %v; want %d, %d, an error: %v", begun, len(done), err, test.begun, test.got, test.fails)
			}
			if test.fails && err.Error() != "a, round 2: broken" && err.Error() != "b, round 2: broken" {
				t.Errorf("the error does not say whose turn it was: %v", err)
			}
		})
	}
}
