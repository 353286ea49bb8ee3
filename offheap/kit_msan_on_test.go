//go:build msan

package offheap_test

// shadowed says that the memory sanitizer keeps as many bytes again as the blocks have.
const shadowed = true
