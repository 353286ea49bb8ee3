package dewfiber

import (
	"io"

	"github.com/dewpond/dewpond"
	"github.com/gofiber/fiber/v3"
)

// Options are for [Middleware]. The zero Options are ready to use.
type Options struct {
	Pool    *dewpond.BytePool // nil: dewpond.Default()
	MaxBody int               // bytes of a request's body; 0: fiber.DefaultBodyLimit, 4 MiB
}

// Middleware returns a handler that gives the handlers after it a [Scope] and a [Body]:
//
//	app.Use(dewfiber.Middleware(dewfiber.Options{Pool: pool}))
func Middleware(o Options) fiber.Handler {
	if o.Pool == nil {
		o.Pool = dewpond.Default()
	}
	if o.MaxBody == 0 {
		o.MaxBody = fiber.DefaultBodyLimit
	}
	return func(c fiber.Ctx) error {
		m := &memory{pool: o.Pool, scope: o.Pool.Scope(), most: o.MaxBody}
		fiber.Locals(c, key{}, m)
		defer m.end()
		return c.Next()
	}
}

type key struct{}

// A memory is what a request has of the pool.
type memory struct {
	pool  *dewpond.BytePool
	scope *dewpond.Scope
	most  int
	body  []byte // a block, or nil
	read  bool
	err   error // of reading the body
}

func (m *memory) end() {
	defer m.scope.Close()
	m.pool.Put(m.body)
}

func memoryOf(c fiber.Ctx, method string) *memory {
	m := fiber.Locals[*memory](c, key{})
	if m == nil {
		panic("dewfiber: " + method + " of a request that did not come through Middleware: app.Use it first")
	}
	return m
}

// Scope returns the Scope of the request. It panics without [Middleware].
func Scope(c fiber.Ctx) *dewpond.Scope { return memoryOf(c, "Scope").scope }

// Body returns the request's body as it was sent, without decoding a Content-Encoding. It is
// valid until the handler returns. A body that fiber has read before is not copied. With
// [fiber.Config].StreamRequestBody Body reads it into a block. The error is for the handler
// to return: [fiber.ErrRequestEntityTooLarge] above MaxBody, else [fiber.ErrBadRequest].
func Body(c fiber.Ctx) ([]byte, error) {
	m := memoryOf(c, "Body")
	if !c.Request().IsBodyStream() && !m.read {
		if body := c.BodyRaw(); len(body) <= m.most {
			return body, nil
		}
		return nil, fiber.ErrRequestEntityTooLarge
	}
	if !m.read {
		m.read = true
		body, err := m.pool.ReadAll(io.LimitReader(c.Request().BodyStream(), int64(m.most)+1))
		switch {
		case err != nil:
			m.err = fiber.ErrBadRequest
		case len(body) > m.most:
			m.err = fiber.ErrRequestEntityTooLarge
		default:
			m.body = body
			return body, nil
		}
		m.pool.Put(body)
	}
	return m.body, m.err
}

// Keep copies b to a Lease, which is valid until its owner releases it, however long after
// the handler has returned.
func Keep(c fiber.Ctx, b []byte) dewpond.Lease {
	l := memoryOf(c, "Keep").pool.Lease(len(b))
	copy(l.Bytes(), b)
	return l
}
