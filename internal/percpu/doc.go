// Package percpu lets a caller act as the only user of data that belongs to the current
// P, the Go scheduler's processor, without a lock.
//
// Two engines have the same functions. The pinned one (pin.go, which has this module's
// only go:linkname) takes the P's id from the runtime and holds off preemption. The
// portable one (portable.go) gives a hint instead of an id, so its callers must lock
// what they find there. The constant [Pinned] tells them at compile time which engine
// they have. A third (explore.go) belongs to instruments/proof, which schedules its threads
// itself.
//
// pin.go names the Go versions that the pinned engine is for. The build tag dewpond_pinned
// asks for it on a newer one too, and then selfTest has to pass before the program starts.
package percpu
