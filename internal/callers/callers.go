// Package callers walks the stack by frame pointers, as the runtime's own tracer does: a
// frame costs two loads, where runtime.Callers looks each one up, for about a hundred
// nanoseconds.
//
// What it gives is the same but for this. Where a function faults, as by a nil pointer, a
// walk from its deferred function names a line above the fault; and the caller of a
// function to which the compiler gave no frame is missing then. Inlined calls are not
// told apart until runtime.CallersFrames does it, which does not for the last of the
// addresses. So it is for stacks that are noted often and read seldom.
package callers
