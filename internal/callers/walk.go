//go:build (amd64 || arm64) && gc && !go1.28 && !dewpond_portable

package callers

// Callers fills pcs with the return addresses on the calling goroutine's stack,
// innermost first, and returns how many there are. It begins with its caller or the
// caller of that. The addresses are for runtime.CallersFrames. The
// calling goroutine must not be one of the runtime's own.
//
// It is safe for three reasons. The stack does not move meanwhile: a goroutine cannot
// be preempted in assembly. No address is read outside the goroutine's stack, which
// ends where its g says (the second word, on which runtime/cgo relies too). And each
// frame pointer must be above the last, so the walk ends whatever the stack contains.
//
//go:noescape
func Callers(pcs []uintptr) int
