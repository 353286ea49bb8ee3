//go:build !asan && !msan

package offheap_test

// shadowed says that a sanitizer keeps memory of its own for that of the blocks.
const shadowed = false
