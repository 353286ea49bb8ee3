//go:build race

package guardpage

const sanitized = "race detector"
