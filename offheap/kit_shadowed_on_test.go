//go:build asan || msan

package offheap_test

// shadowed says that a sanitizer keeps memory of its own for that of the blocks: the memory
// sanitizer as much again, the address sanitizer an eighth, which some kernels count as resident.
const shadowed = true
