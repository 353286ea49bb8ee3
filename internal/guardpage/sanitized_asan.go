//go:build asan && !race

package guardpage

const sanitized = "address sanitizer"
