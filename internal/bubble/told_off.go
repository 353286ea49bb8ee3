//go:build !go1.25

package bubble

const Told = false
