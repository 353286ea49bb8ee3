package dewpond_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
)

// LeakAfter where nothing is watched is a line in the log, once.
func TestLeakAfterWithoutCheck(t *testing.T) {
	defer slog.SetDefault(slog.Default())
	for _, c := range []struct {
		environment string
		mode        dewpond.CheckMode
		lines       int
	}{
		{"", dewpond.CheckOff, 1},
		{"off", dewpond.CheckOff, 1},
		{"all", dewpond.CheckOff, 0},
		{"sampled", dewpond.CheckOff, 0},
		{"", dewpond.CheckSampled, 0},
		{"off", dewpond.CheckAll, 0}, // somebody has turned it off
	} {
		t.Setenv("DEWPOND_CHECK", c.environment)
		dewpond.ForgetWarnings()
		var log bytes.Buffer
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
		for range 3 {
			p := must(makePool(dewpond.BytePoolOptions{Check: c.mode, LeakAfter: time.Minute}))
			made(t)
			p.Close()
		}
		if n := strings.Count(log.String(), "LeakAfter"); n != c.lines {
			t.Errorf("%q, Check %d: %d lines: %s", c.environment, c.mode, n, log.String())
		}
	}
}
