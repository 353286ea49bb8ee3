//go:build !dewpond_delay

package magazine

// delay does nothing, and is not there once inlined: see delay_on.go.
func delay(seam) {}
