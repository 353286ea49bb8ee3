//go:build dewpond_pinned && gc && go1.24 && !race && !dewpond_portable && !dewpond_explore

package percpu

import "runtime"

// With the tag, pin.go is also built for a Go whose runtime nobody has read. So the program
// looks by itself, before any pool is used. It does so on every Go, also where it was read.
func init() {
	mustPass(Pin, Unpin)
	engine = "pinned (dewpond_pinned, " + runtime.Version() + ")"
}
