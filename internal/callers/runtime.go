//go:build !(amd64 || arm64) || !gc || go1.28 || dewpond_portable

package callers

import "runtime"

// Callers fills pcs with the return addresses on the calling goroutine's stack, innermost
// first, and returns how many those are. It begins in its caller or in the caller of
// that: for runtime.CallersFrames, and a reader who need not be told where he is.
func Callers(pcs []uintptr) int { return runtime.Callers(2, pcs) }
