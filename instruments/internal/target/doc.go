// Package target looks at the target itself while it is under load: its execution trace, its
// metrics, and what its collector has to do with the slowest requests.
package target
