package rig

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/command"
	"github.com/dewpond/dewpond/instruments/load"

	"github.com/dewpond/dewpond/instruments/lab/internal/rig/variant"
)

func TestWarmRefuses(t *testing.T) {
	for want, c := range map[string]*warmCommand{
		"--idle 0: give 1 to 32":  {Rate: 1, Rounds: 1},
		"--idle 33: give 1 to 32": {Idle: 33, Rate: 1, Rounds: 1},
		"give --rate above 0":     {Idle: 1, Rounds: 1},
		"--rounds 1 or more":      {Idle: 1, Rate: 1},
	} {
		if err := c.warm(context.Background(), io.Discard, io.Discard); !errors.As(err, new(command.UsageError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// The first second is compared with that of a service without, beside the second one, which is the control.
func TestWarmWords(t *testing.T) {
	of := func(ms float64) load.Result {
		return load.Result{Valid: true, Session: load.Part{Response: &load.Times{Max: ms * 1e6, Mean: ms * 1e5}}}
	}
	starts := map[string][]start{}
	for range 6 {
		starts[cold] = append(starts[cold], start{first: of(20), second: of(4)})
		starts[warmed] = append(starts[warmed], start{first: of(5), second: of(4)})
	}
	words := strings.Join(warmWords(starts), "\n")
	if want := "The longest response of the first second with warm connections is 0.25x [0.25, 0.25] of that without; of the second second, the control, 1.00x [1.00, 1.00]: better."; !strings.Contains(words, want) {
		t.Errorf("no %q in\n%s", want, words)
	}
	for i := range starts[warmed] { // the control shows as much
		starts[warmed][i].second = of(1)
	}
	if words := warmWords(starts); !strings.Contains(words[0], "the control shows as much") {
		t.Errorf("%q", words)
	}
	starts[cold], starts[warmed] = starts[cold][:2], starts[warmed][:2]
	starts[cold][0].first.Valid, starts[cold][0].first.Why = false, []string{"late"}
	if words := strings.Join(warmWords(starts), "\n"); !strings.Contains(words, "no verdict on 2 starts") {
		t.Error(words)
	}
	if spoiled := spoiledStarts(starts); !slices.Equal(spoiled, []string{"start 1 with none: late"}) {
		t.Errorf("%q", spoiled)
	}
}

func TestWarmVariant(t *testing.T) {
	if args := strings.Join(variant.Warm(7).Args(), " "); !containsAll(args, "--db-min-idle=7", "--redis-min-idle=7") {
		t.Error(args)
	}
	if args := strings.Join(variant.Warm(0).Args(), " "); strings.Contains(args, "min-idle") {
		t.Error(args)
	}
}

// The service is started in both ways, and answers from its first moment on. What so short a run measures is
// chance.
func TestWarm(t *testing.T) {
	startsProcesses(t)
	c := &warmCommand{program: service(t), backendFlags: backendFlags{standIn, standIn}, Idle: 4, Rate: 100, Rounds: 1, span: 100 * time.Millisecond}
	var out strings.Builder
	err := c.warm(t.Context(), &out, io.Discard)
	if ending := (*command.Ending)(nil); err != nil && !(errors.As(err, &ending) && ending.Code == 4) { // a busy machine
		t.Fatal(err)
	}
	if !containsAll(out.String(), "stand-in", "\nnone ", "\n4 ", "no verdict on 1 starts") {
		t.Error(out.String())
	}
}
