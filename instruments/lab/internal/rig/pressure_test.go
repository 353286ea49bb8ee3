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

// Degradation on and off are measured without ballast and with it, and no request fails. What so
// short a run measures is chance.
func TestPressure(t *testing.T) {
	startsProcesses(t)
	c := &pressureCommand{program: service(t), Rate: 100, Limit: "256MiB", Ballast: "200MiB", Duration: 200 * time.Millisecond, patience: 100 * time.Millisecond}
	var out strings.Builder
	if err := c.pressure(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3+4 || !containsAll(out.String(), "stand-ins", "none", "200MiB", "MiB", "collector's share") {
		t.Error(out.String())
	}
	for _, line := range lines[3:] {
		if fields := strings.Fields(line); fields[3] != "0" {
			t.Errorf("requests fail: %s", line)
		}
	}
}

func TestPressureRefuses(t *testing.T) {
	for _, c := range []*pressureCommand{{Limit: "lots", Ballast: "1MiB"}, {Limit: "1MiB", Ballast: "1MiB"}} {
		if err := c.pressure(context.Background(), io.Discard); !errors.As(err, new(command.UsageError)) || !strings.Contains(err.Error(), "give") {
			t.Errorf("%v", err)
		}
	}
}
