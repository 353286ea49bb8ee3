package dewpond_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
)

// A value of DEWPOND_CHECK that is no mode is an error in the log, once, before the
// program does anything, and every pool works and watches nothing.
func TestUnknownCheckMode(t *testing.T) {
	needsProcesses(t)
	const key, begins = "DEWPOND_TEST_MODE", "the program begins"
	if os.Getenv(key) != "" {
		fmt.Fprintln(os.Stderr, begins)
		dewpond.Put(dewpond.Get(100))
		p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll})
		p.Put(p.Get(100))
		q := newObjects(t, dewpond.PoolOptions[account]{Check: dewpond.CheckAll})
		v := q.Get()
		q.Put(v)
		q.Put(v)
		if n := p.Stats().Violations + q.Stats().Violations; n != 0 {
			t.Errorf("%d violations", n)
		}
		return
	}
	if offHeap { // the same program
		made(t)
		return
	}
	newPool(t, dewpond.BytePoolOptions{})
	for _, value := range []string{"ALL", "sampled=7", "sampled=1/0", "all=1"} {
		child := exec.Command(os.Args[0], "-test.run=^TestUnknownCheckMode$", "-dewpond.memory=heap")
		child.Env = append(os.Environ(), key+"=1", "DEWPOND_CHECK="+value)
		out, err := child.CombinedOutput()
		before, after, began := strings.Cut(string(out), begins)
		if err != nil || !began || strings.Count(before, "DEWPOND_CHECK") != 1 || strings.Contains(after, "DEWPOND_CHECK") ||
			!strings.Contains(before, "ERROR") || !strings.Contains(before, value) {
			t.Errorf("%s: the child ended with %v:\n%s", value, err, out)
		}
	}
}

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
