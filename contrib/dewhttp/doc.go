// Package dewhttp uses a pool of dewpond with net/http. [BufferPool] is one for a
// [net/http/httputil.ReverseProxy]. [Middleware] gives each request a [dewpond.Scope] and
// a body that is read into a block, up to a limit. A [Payload] sends the contents of a
// [dewpond.Buffer] as the body of a request.
//
// What a request gets from [ScopeOf] and [ReadBody] ends with its handler. A goroutine that
// the handler starts and does not wait for must copy what it needs.
package dewhttp
