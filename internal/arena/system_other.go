//go:build !linux

package arena

// platform returns no calls on this system: the arena is on the Go heap, and Usage says
// so.
func platform() system { return system{} }
