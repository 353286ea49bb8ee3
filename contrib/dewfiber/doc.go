// Package dewfiber gives each request of fiber, version 3, a [dewpond.Scope], and a body
// that is streamed a block. Both end when the handler has returned: nobody can see that a
// goroutine which the handler has started, and does not wait for, still uses them, so such a
// goroutine must copy what it needs. An ErrorHandler runs after the end too: [Body], [Scope] and
// [Keep] panic there, and neither fasthttp nor fiber's middleware/recover recovers that, so the
// process ends.
//
// All that fiber itself hands out ends then as well: its buffers serve the next request, and a
// slice or string of them that was kept changes. [Keep] copies what outlives the handler.
// fiber's Send, SendString and SendStream write after the handler has returned, when the
// memory of a Scope or a Body has another owner: answer with Write, which copies.
package dewfiber
