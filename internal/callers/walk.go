//go:build (amd64 || arm64) && gc && !go1.28 && !dewpond_portable

package callers

// Callers fills pcs with the return addresses on the calling goroutine's stack, innermost
// first, and returns how many those are. It begins in its caller or in the caller of
// that: for runtime.CallersFrames, and a reader who need not be told where he is. The
// goroutine must not be the system's.
//
// It is safe because of three things. The stack does not move meanwhile: assembly is no
// place where a goroutine can be preempted. No address is read outside the goroutine's
// stack, which ends where its g says (the second word, of which runtime/cgo knows too).
// And each frame pointer must be above the last, so that whatever lies there the walk
// ends.
//
//go:noescape
func Callers(pcs []uintptr) int
