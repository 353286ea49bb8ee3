package dewfiber

import (
	"fmt"
	"io"
	"sync"

	"github.com/dewpond/dewpond"
	"github.com/gofiber/fiber/v3"
)

// Options are for [Middleware]. The zero Options are ready to use.
type Options struct {
	Pool    *dewpond.BytePool // nil: dewpond.Default()
	MaxBody int               // bytes of a request's body; 0: fiber.DefaultBodyLimit, 4 MiB; negative: no limit but fiber's
}

// Middleware returns a handler that gives the handlers after it a [Scope] and a [Body]:
//
//	app.Use(dewfiber.Middleware(dewfiber.Options{Pool: pool}))
//
// A handler that fiber's middleware/timeout has given up goes on after Middleware has ended.
// Its Scope and its Body are left to the collector, so that they never become another
// request's. Of two Middlewares, the handlers between them have the outer one's, also after
// the inner one has ended.
func Middleware(o Options) fiber.Handler {
	if o.Pool == nil {
		o.Pool = dewpond.Default()
	}
	if o.MaxBody == 0 {
		o.MaxBody = fiber.DefaultBodyLimit
	}
	return func(c fiber.Ctx) error {
		outer := fiber.Locals[*memory](c, key{})
		m := &memory{pool: o.Pool, scope: o.Pool.Scope(), most: o.MaxBody}
		fiber.Locals(c, key{}, m)
		defer m.end(c, outer)
		return c.Next()
	}
}

type key struct{}

// A memory is what a request has of the pool.
type memory struct {
	pool  *dewpond.BytePool
	scope *dewpond.Scope
	most  int

	// mu is held for one look: a handler that was given up may ask while the middleware ends.
	mu    sync.Mutex
	ended bool
	body  []byte // a block, or nil
	read  bool
	err   error // of reading the body
}

// end gives back what the request has, or leaves it to the collector if a handler that was
// given up may still use it. The handlers around the middleware have outer's again.
func (m *memory) end(c fiber.Ctx, outer *memory) {
	m.mu.Lock()
	body := m.body
	m.body, m.ended = nil, true
	m.mu.Unlock()
	if c.IsAbandoned() { // and that handler may be looking into its Locals
		return
	}
	if outer != nil {
		fiber.Locals(c, key{}, outer)
	}
	defer m.scope.Close()
	m.pool.Put(body)
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
// to return: [fiber.ErrRequestEntityTooLarge] above MaxBody, else [fiber.ErrBadRequest] and
// what has failed.
//
// That is [io.ErrUnexpectedEOF] for a body that is shorter than its Content-Length. A chunked
// body that is cut off between two chunks cannot be told from a whole one: fasthttp gives no
// sign of it.
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
	body, err = m.readStream(c.Request().BodyStream(), c.Request().Header.ContentLength())
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.ended { // otherwise the collector has it when this handler, which was given up, is done
		m.body, m.read, m.err = body, true, err
	}
	return body, err
}

// readStream reads all of r, of which declared bytes are to come; negative: it was not said.
func (m *memory) readStream(r io.Reader, declared int) ([]byte, error) {
	if m.most >= 0 {
		r = io.LimitReader(r, int64(m.most)+1)
	}
	body, err := m.pool.ReadAll(r)
	switch {
	case err == nil && m.most >= 0 && len(body) > m.most:
		err = fiber.ErrRequestEntityTooLarge
	case err == nil && len(body) < declared:
		err = io.ErrUnexpectedEOF
		fallthrough
	case err != nil:
		err = fmt.Errorf("%w: %w", fiber.ErrBadRequest, err)
	default:
		return body, nil
	}
	m.pool.Put(body)
	return nil, err
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
