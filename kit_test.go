package dewpond_test

import (
	"runtime"
	"testing"
)

// needsThreads ends a test whose goroutines wait for each other without a pause, or have to
// meet, where all share one thread, as with WebAssembly: there each runs until it waits.
func needsThreads(t *testing.T) {
	t.Helper()
	if runtime.GOARCH == "wasm" {
		t.Skip("there is one thread, and nobody who takes it from a goroutine")
	}
}

// needsProcesses ends a test that starts others.
func needsProcesses(t *testing.T) {
	t.Helper()
	if runtime.GOARCH == "wasm" {
		t.Skip("a process cannot start another here")
	}
}
