//go:build !dewpond_delay

package magazine

// delay does nothing and is inlined away: see delay_on.go.
func delay(seam) {}
