// Package dewecho gives each request of echo, version 5, a [dewpond.Scope] and a body in a
// block, as contrib/dewhttp does for net/http. Both end when the handler has returned: a
// goroutine that outlives it must copy what it needs.
package dewecho
