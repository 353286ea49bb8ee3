//go:build dewpond_portable

package percpu

const tagged = true
