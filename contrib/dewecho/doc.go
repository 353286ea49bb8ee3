// Package dewecho gives each request of echo, version 5, a [dewpond.Scope] and a body in a
// block, as contrib/dewhttp does for net/http. Both end when the handler has returned: a
// goroutine that outlives it must copy what it needs. What is asked for inside an
// [net/http.TimeoutHandler] is left to the collector, and nothing is reused there. What is asked
// for outside of it and carried into it, by a closure, in a context or as the request's Body,
// nobody can see: a handler that goes on there reads another request's bytes, so ask inside
// it, or carry a copy. echo's HTTPErrorHandler runs after the end: [Scope] and [Body] panic
// there.
package dewecho
