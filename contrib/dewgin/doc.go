// Package dewgin gives each request of gin a [dewpond.Scope] and a body in a block, as
// contrib/dewhttp does for net/http. Both end when the handlers have returned: a goroutine
// that outlives them must copy what it needs, as it must copy the gin.Context. What is asked
// for inside an [net/http.TimeoutHandler] is left to the collector, and nothing is reused there.
// What is asked for outside of it and carried into it, by a closure, in a context or as the
// request's Body, nobody can see: a handler that goes on there reads another request's bytes,
// so ask inside it, or carry a copy.
package dewgin
