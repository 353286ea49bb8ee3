//go:build msan

package offheap_test

// shadowed: the memory sanitizer keeps as much again for what the blocks have had.
const shadowed = true
