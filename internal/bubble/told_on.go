//go:build go1.25

package bubble

// told says that this Go has bubbles and tells who is in one.
const told = true
