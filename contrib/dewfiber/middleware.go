package dewfiber

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/internal/upload"
	"github.com/gofiber/fiber/v3"
)

// Options are for [Middleware]. The zero Options are ready to use.
type Options struct {
	Pool    *dewpond.BytePool // nil: dewpond.Default()
	MaxBody int               // bytes of a request's body; 0: fiber.DefaultBodyLimit, 4 MiB; negative: no limit but fiber's

	// WhenFull is what [Body] does when the Pool's Budget or AllocRate leaves no memory for a
	// streamed body (default [Exceed]).
	WhenFull WhenFull

	// Refused answers a request whose handler returns an error that wraps
	// [dewpond.ErrExhausted], as that of Body does if the body was refused memory. By default
	// the error goes on to fiber's ErrorHandler, with the header Retry-After: 1. Refused is
	// called by several goroutines at once.
	Refused func(c fiber.Ctx, err error) error
}

// A WhenFull is what [Body] does when the pool has no memory for a streamed body. It bounds
// streamed bodies only: fiber has read any other before, a Scope's Get exceeds a Budget, and its
// TryGet returns [dewpond.ErrExhausted].
//
// With [Wait] and [Refuse], Body takes a block of at most 64 KiB for the length that a client
// announces, and a larger one only when more bytes have come. A body that has begun, and is
// refused the next block, gives back what it has at once: Body returns an error with status 503
// that wraps ErrExhausted. So that those that have begun can go on, a body that is longer than
// 64 KiB, or whose length is unknown, begins only while the bodies of this Middleware hold less
// than half of the Budget. So make one Middleware for all handlers that share a Budget, and give
// the Budget at least twice MaxBody: a body is copied to the next block as it grows.
type WhenFull uint8

const (
	// Exceed takes memory past the Budget, as [dewpond.BytePool.Get] does. [dewpond.Stats] counts
	// it in OverBudget.
	Exceed = WhenFull(upload.Exceed)

	// Wait waits, before it takes the first block, until there is memory or the request's
	// context, [fiber.Ctx].Context, is done. Requests wait in the order in which they came. The
	// context has no deadline unless something sets one, such as fiber's middleware/timeout.
	Wait = WhenFull(upload.Wait)

	// Refuse refuses at once.
	Refuse = WhenFull(upload.Refuse)
)

// Middleware returns a handler that gives the handlers after it a [Scope] and a [Body]:
//
//	app.Use(dewfiber.Middleware(dewfiber.Options{Pool: pool}))
//
// A handler that fiber's middleware/timeout has given up goes on after Middleware has ended.
// Its Scope and its Body are left to the collector, so that they never become another
// request's. Of two Middlewares, the handlers between them have the outer one's, also after
// the inner one has ended. Middleware panics if o.WhenFull is none of the constants.
func Middleware(o Options) fiber.Handler {
	if o.Pool == nil {
		o.Pool = dewpond.Default()
	}
	if o.MaxBody == 0 {
		o.MaxBody = fiber.DefaultBodyLimit
	}
	intake := upload.New(o.Pool, upload.WhenFull(o.WhenFull), "dewfiber: Options.WhenFull")
	return func(c fiber.Ctx) error {
		outer := fiber.Locals[*memory](c, key{})
		m := &memory{pool: o.Pool, intake: intake, scope: o.Pool.Scope(), most: o.MaxBody}
		fiber.Locals(c, key{}, m)
		defer m.end(c, outer)
		err := c.Next()
		if !errors.Is(err, dewpond.ErrExhausted) {
			return err
		}
		if o.Refused != nil {
			return o.Refused(c, err)
		}
		c.Set(fiber.HeaderRetryAfter, "1")
		return err
	}
}

type key struct{}

// A memory is what a request has of the pool.
type memory struct {
	pool   *dewpond.BytePool
	intake *upload.Intake
	scope  *dewpond.Scope
	most   int

	// mu is held for one look: a handler that was given up may ask while the middleware ends.
	mu    sync.Mutex
	ended bool
	body  []byte // a block, or nil
	read  bool
	err   error // of reading the body
	rest  bool  // a part of the body was not read
}

// end gives back what the request has, or leaves it to the collector if a handler that was
// given up may still use it. The handlers around the middleware have outer's again.
func (m *memory) end(c fiber.Ctx, outer *memory) {
	m.mu.Lock()
	body, rest := m.body, m.rest
	m.body, m.ended = nil, true
	m.mu.Unlock()
	if c.IsAbandoned() { // and that handler may be looking into its Locals
		m.intake.Lose(body)
		return
	}
	if outer != nil {
		fiber.Locals(c, key{}, outer)
	}
	if rest { // fasthttp would take it for the next request
		c.Response().Header.SetConnectionClose()
	}
	defer m.scope.Close()
	m.intake.Put(body)
}

// lookAt returns the request's memory, locked.
func lookAt(c fiber.Ctx, method string) *memory {
	m := fiber.Locals[*memory](c, key{})
	if m == nil {
		panic("dewfiber: " + method + " of a request that did not come through Middleware: app.Use it first")
	}
	m.mu.Lock()
	if m.ended {
		m.mu.Unlock()
		panic("dewfiber: " + method + " after Middleware has ended, as in an ErrorHandler: the request's memory has another owner")
	}
	return m
}

// Scope returns the Scope of the request. It panics without [Middleware], and after it has
// ended, as in an ErrorHandler.
func Scope(c fiber.Ctx) *dewpond.Scope {
	m := lookAt(c, "Scope")
	defer m.mu.Unlock()
	return m.scope
}

// Body returns the request's body as it was sent, without decoding a Content-Encoding. It is
// valid until the handler returns. A body that fiber has read before is not copied. With
// [fiber.Config].StreamRequestBody Body reads it into a block. The error is for the handler
// to return: [fiber.ErrRequestEntityTooLarge] above MaxBody, [fiber.ErrServiceUnavailable] and
// [dewpond.ErrExhausted] if the pool had no memory for it (see [WhenFull]), else
// [fiber.ErrBadRequest] and what has failed.
//
// That is [io.ErrUnexpectedEOF] for a body that is shorter than its Content-Length, and the error
// of the request's context for a chunked body, if the context ended before the body did. Any
// other chunked body that is cut off between two chunks cannot be told from a whole one: fasthttp
// gives no sign of it.
//
// fasthttp takes what is left of a streamed body for the next request. So Body reads and discards
// the rest of a body that was refused memory, up to MaxBody, which also lets the client finish
// and see the answer. After any other error the connection is closed.
//
// Body panics as [Scope] does.
func Body(c fiber.Ctx) ([]byte, error) {
	m := lookAt(c, "Body")
	body, read, err := m.body, m.read, m.err
	m.mu.Unlock()
	if read {
		return body, err
	}
	if !c.Request().IsBodyStream() {
		if body := c.BodyRaw(); m.most < 0 || len(body) <= m.most {
			return body, nil
		}
		return nil, fiber.ErrRequestEntityTooLarge
	}
	body, rest, err := m.readStream(c.Context(), c.Request().BodyStream(), c.Request().Header.ContentLength())
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.ended { // the collector has it when this handler, which was given up, is done
		m.intake.Lose(body)
	} else {
		m.body, m.read, m.err, m.rest = body, true, err, rest
	}
	return body, err
}

// readStream reads all of stream, of which declared bytes are to come; negative: it was not said.
// rest says that some of it was not read.
func (m *memory) readStream(ctx context.Context, stream io.Reader, declared int) (body []byte, rest bool, err error) {
	if m.most >= 0 && declared > m.most {
		return nil, true, fiber.ErrRequestEntityTooLarge
	}
	whole := &upload.Whole{Ctx: ctx, Body: stream, Left: int64(declared)}
	most := int64(m.most)
	if most < 0 {
		most = math.MaxInt64 - 1
	}
	limited := io.LimitReader(whole, most+1)
	body, err = m.intake.Read(ctx, limited, int64(declared))
	switch {
	case errors.Is(err, dewpond.ErrExhausted):
		io.Copy(io.Discard, limited)
		_, end := whole.Read(make([]byte, 1))
		return nil, end != io.EOF, fmt.Errorf("%w: %w", fiber.ErrServiceUnavailable, err)
	case err != nil:
		return nil, true, fmt.Errorf("%w: %w", fiber.ErrBadRequest, err)
	case int64(len(body)) > most:
		m.intake.Put(body)
		return nil, true, fiber.ErrRequestEntityTooLarge
	}
	return body, false, nil
}

// Keep copies b to a Lease, which is valid until its owner releases it, however long after
// the handler has returned. Keep panics as [Scope] does.
func Keep(c fiber.Ctx, b []byte) dewpond.Lease {
	m := lookAt(c, "Keep")
	m.mu.Unlock()
	l := m.pool.Lease(len(b))
	copy(l.Bytes(), b)
	return l
}
