//go:build asan || msan

package dewpond_test

// sanitized: -asan or -msan has the compiler put more on the heap.
const sanitized = true
