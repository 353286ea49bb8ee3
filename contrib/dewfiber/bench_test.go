package dewfiber_test

import (
	"bytes"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewfiber"
	"github.com/dewpond/dewpond/internal/turns"
	"github.com/gofiber/fiber/v3"
	"github.com/valyala/fasthttp"
)

// BenchmarkScope is a handler that makes ten pieces of 500 bytes, with make in turn.
func BenchmarkScope(b *testing.B) {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: b.Name()})
	piece := bytes.Repeat([]byte("x"), 500)
	run := func(middleware fiber.Handler, clone func(c fiber.Ctx) []byte) func() {
		app := fiber.New()
		app.Use(middleware)
		app.Get("/", func(c fiber.Ctx) error {
			for range 10 {
				c.Write(clone(c))
			}
			return nil
		})
		handler := app.Handler()
		ctx := new(fasthttp.RequestCtx)
		ctx.Request.SetRequestURI("/")
		return func() {
			handler(ctx)
			if ctx.Response.StatusCode() != 200 {
				b.Fatal(ctx.Response.StatusCode())
			}
			ctx.Response.Reset()
		}
	}
	turns.Take(b, 1000,
		run(dewfiber.Middleware(dewfiber.Options{Pool: pool}), func(c fiber.Ctx) []byte { return dewfiber.Scope(c).Copy(piece) }),
		run(func(c fiber.Ctx) error { return c.Next() }, func(fiber.Ctx) []byte { return bytes.Clone(piece) }))
}
