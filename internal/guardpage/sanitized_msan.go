//go:build msan && !race && !asan

package guardpage

const sanitized = "memory sanitizer"
