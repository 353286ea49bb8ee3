// Package dewfiber gives each request of fiber, version 3, a [dewpond.Scope], and a body
// that is streamed a block. Both end when the handler has returned.
//
// So does all that fiber itself hands out: its buffers serve the next request then, and a
// slice or string of them that was kept changes. [Keep] copies what outlives the handler.
// fiber's Send, SendString and SendStream write after the handler has returned, when the
// memory of a Scope or a Body has another owner: answer with Write, which copies.
package dewfiber
