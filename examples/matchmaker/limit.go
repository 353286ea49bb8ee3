package main

import (
	"errors"
	"fmt"
	"os"
	"runtime/debug"

	"github.com/KimMachineGun/automemlimit/memlimit"

	"github.com/dewpond/dewpond/instruments/kit/command"
)

// collect sets the collector as the options say, and returns where its memory limit comes from.
func (c *serveCommand) collect(cgroup func() (uint64, error)) (from string, err error) {
	if c.GOGC < -1 {
		return "", command.UsageError{Err: fmt.Errorf("--gogc %d: give a percentage such as 100, or -1 for none", c.GOGC)}
	}
	if c.GOGC != 0 {
		debug.SetGCPercent(c.GOGC)
	}
	text := c.MemoryLimit
	if text == "" && os.Getenv("GOMEMLIMIT") != "" {
		return "by GOMEMLIMIT", nil
	}
	limit := int64(0)
	switch text {
	case "", "auto":
		limit, from, err = autoLimit(cgroup)
	default:
		from = "by --memory-limit"
		limit, err = parseLimit(text)
	}
	if err != nil {
		return "", command.UsageError{Err: fmt.Errorf("--memory-limit: %w", err)}
	}
	debug.SetMemoryLimit(limit)
	return from, nil
}

// autoLimit is nine tenths of a cgroup's limit: the rest is for what the runtime does not count,
// and for the moment until a collection has ended. Where there is no limit there is none here.
func autoLimit(cgroup func() (uint64, error)) (limit int64, from string, err error) {
	n, err := cgroup()
	switch {
	case errors.Is(err, memlimit.ErrNoLimit), errors.Is(err, memlimit.ErrNoCgroup), errors.Is(err, memlimit.ErrCgroupsNotSupported), err == nil && n > noLimit/2:
		return noLimit, "auto: there is no cgroup with a limit", nil
	case err != nil:
		return noLimit, fmt.Sprintf("auto: the cgroup's limit cannot be read: %v", err), nil
	}
	limit = int64(n / 10 * 9)
	return limit, fmt.Sprintf("auto: nine tenths of the cgroup's %d", n), enough(limit)
}
