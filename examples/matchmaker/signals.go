package main

import (
	"os"
	"syscall"
)

// stopSignals end the service: Ctrl-C, and what a service manager sends, which os has no name for.
var stopSignals = []os.Signal{os.Interrupt, syscall.SIGTERM}
