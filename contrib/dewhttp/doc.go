// Package dewhttp uses a pool of dewpond with net/http. What a request gets from [ScopeOf] and
// [ReadBody] ends with its handler: nobody can see that a goroutine which the handler has
// started, and does not wait for, still uses it, so such a goroutine must copy what it needs.
// Neither can anybody see that what was asked for outside an [net/http.TimeoutHandler] is carried
// into it, by a closure, in a context or as the request's Body: a handler that goes on there
// reads another request's bytes, so ask inside it, or carry a copy.
//
// [BufferPool] is one for a [net/http/httputil.ReverseProxy]. [Middleware] gives each request a
// [dewpond.Scope] and a body that is read into a block, up to a limit. [WhenFull] bounds bodies
// by the pool's [dewpond.Budget]: those for which there is no memory wait, or are answered with
// status 503. A [Payload] sends the contents of a [dewpond.Buffer] as the body of a request.
package dewhttp
