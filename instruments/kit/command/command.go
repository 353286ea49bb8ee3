// Package command ends a command: it says what went wrong, and gives the exit code that it has.
package command

import (
	"errors"
	"fmt"
	"os"
)

// Exit codes. An error can have another: see [Exit].
const (
	Failure = 1
	Usage   = 2
)

// A UsageError is a mistake in the arguments. Its text says what is valid.
type UsageError struct{ Err error }

func (e UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the mistake.
func (e UsageError) Unwrap() error { return e.Err }

// ExitCode returns 2.
func (UsageError) ExitCode() int { return Usage }

// An Ending is an error with an exit code of its own.
type Ending struct {
	Text string
	Code int
}

func (e *Ending) Error() string { return e.Text }

// ExitCode returns the code.
func (e *Ending) ExitCode() int { return e.Code }

// Exit prints the error on standard error, behind the program's name and as shown gives it, and
// returns the exit code: that of the first error in its tree with a method ExitCode, otherwise 1. Of
// nil it prints nothing and returns 0. A nil shown shows the text as it is.
func Exit(name string, err error, shown func(string) string) int {
	if err == nil {
		return 0
	}
	text := err.Error()
	if shown != nil {
		text = shown(text)
	}
	fmt.Fprintf(os.Stderr, "%s: %s\n", name, text)
	var coded interface{ ExitCode() int }
	if errors.As(err, &coded) {
		return coded.ExitCode()
	}
	return Failure
}
