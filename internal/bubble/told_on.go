//go:build go1.25

package bubble

// Told says that this Go has bubbles and tells who is in one.
const Told = true
