// Package signals has the signals that end a process.
package signals

import (
	"os"
	"syscall"
)

// Stop are they: Ctrl-C, and what a service manager sends, which os has no name for.
var Stop = []os.Signal{os.Interrupt, syscall.SIGTERM}
