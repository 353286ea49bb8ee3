//go:build !(amd64 || arm64) || !gc || go1.28 || dewpond_portable

package callers

import "runtime"

// Callers fills pcs with the return addresses on the calling goroutine's stack,
// innermost first, and returns how many there are. It begins with its caller or the
// caller of that. The addresses are for runtime.CallersFrames.
func Callers(pcs []uintptr) int { return runtime.Callers(2, pcs) }
