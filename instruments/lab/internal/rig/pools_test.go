package rig

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/command"
)

// Every row is simulated and measured. What a short run measures is chance.
func TestPools(t *testing.T) {
	startsProcesses(t)
	c := &poolsCommand{Rate: 300, Hold: time.Millisecond, Open: 50, Idle: 20, Lifetime: 30 * time.Minute, Duration: 200 * time.Millisecond, Patience: time.Hour}
	var out strings.Builder
	if err := c.pools(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if !containsAll(out.String(), "\n50/20/30m0s ", "50/2/30m0s", "50/50/30m0s", "50/20/1s", "max idle", "87 % reuse") {
		t.Error(out.String())
	}
}

func TestPoolsRefuses(t *testing.T) {
	c := &poolsCommand{Rate: 300, Hold: time.Millisecond, Open: 5, Idle: 20, Duration: time.Second, Patience: time.Second}
	if err := c.pools(context.Background(), io.Discard); !errors.As(err, new(command.UsageError)) {
		t.Errorf("%v", err)
	}
}

// Loans that time out are counted, and end nothing.
func TestPoolsWithShortPatience(t *testing.T) {
	startsProcesses(t)
	c := &poolsCommand{Rate: 300, Hold: 10 * time.Millisecond, Open: 8, Idle: 8, Lifetime: 30 * time.Minute, Duration: time.Second, Patience: 40 * time.Millisecond}
	var out strings.Builder
	if err := c.pools(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "timed out") {
		t.Error(out.String())
	}
}
