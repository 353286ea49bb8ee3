//go:build !linux

package arena

// platform has no calls here: the arena is on the Go heap, and Usage says so.
func platform() system { return system{} }
