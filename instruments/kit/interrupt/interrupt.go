// Package interrupt ends a command by Ctrl-C or by SIGTERM, which systemd, docker stop and timeout send.
// The command reports what it has, and exits as a shell reports a process that the signal has
// killed.
package interrupt

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// An Error is the cause of a [Context] that a signal has ended, and so the error of the command.
type Error struct{ Signal os.Signal }

// Error implements error.
func (e Error) Error() string {
	if e.Signal == syscall.SIGTERM {
		return "terminated"
	}
	return "interrupted"
}

// ExitCode returns 128 and the signal's number: 130 for Ctrl-C, 143 for SIGTERM.
func (e Error) ExitCode() int {
	if e.Signal == syscall.SIGTERM {
		return 143
	}
	return 130
}

// Signals are those that end a command: Ctrl-C, and SIGTERM, for which os has no name.
var Signals = []os.Signal{os.Interrupt, syscall.SIGTERM}

// Context returns a context that the first signal ends, with an [Error] as its cause. A Ctrl-C
// after that ends the program at once. A SIGTERM does not: timeout sends two, one to the command and
// one to its group. The caller calls end when it is done.
func Context() (ctx context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(context.Background())
	signals, more := make(chan os.Signal, 1), make(chan os.Signal, 1)
	signal.Notify(signals, Signals...)
	signal.Notify(more, syscall.SIGTERM) // nobody reads it
	go func() {
		select {
		case s := <-signals:
			signal.Stop(signals)
			cancel(Error{s})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		signal.Stop(more)
		cancel(nil)
	}
}
