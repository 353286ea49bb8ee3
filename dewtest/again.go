package dewtest

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
)

// ours are the signals that concern this process alone. They are named because dewtest
// does not import the package that has their numbers.
var ours = []string{"child exited", "urgent I/O condition", "broken pipe", "window changed", "window size changes"}

// again runs this process once more, in the current environment, and returns its exit
// code.
func again() int {
	path, err := os.Executable()
	if err != nil {
		return cannot(err)
	}
	child := exec.Command(path, os.Args[1:]...)
	child.Args[0] = os.Args[0]
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	signals := make(chan os.Signal, 16)
	signal.Notify(signals) // before a child exists that could miss one
	if err := child.Start(); err != nil {
		return cannot(err)
	}
	go func() {
		for s := range signals {
			if !slices.Contains(ours, s.String()) {
				_ = child.Process.Signal(s) // it may have ended
			}
		}
	}()
	err = child.Wait()
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode()
	}
	fmt.Fprintln(os.Stderr, "dewtest: the tests ended with", err)
	return 2
}

func cannot(err error) int {
	fmt.Fprintf(os.Stderr, "dewtest: pools are older than Main, and the tests cannot be run again: %v; set %s=all in the environment\n", err, variable)
	return 2
}
