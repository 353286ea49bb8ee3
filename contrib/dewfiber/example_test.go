package dewfiber_test

import (
	"fmt"
	"io"
	"net/http/httptest"
	"strings"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewfiber"
	"github.com/gofiber/fiber/v3"
)

func Example() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "requests"})
	audit := make(chan dewpond.Lease, 1)
	app := fiber.New()
	app.Use(dewfiber.Middleware(dewfiber.Options{Pool: pool}))
	app.Post("/", func(c fiber.Ctx) error {
		body, err := dewfiber.Body(c)
		if err != nil {
			return err
		}
		audit <- dewfiber.Keep(c, body)                // body itself ends with the handler
		_, err = c.Write(dewfiber.Scope(c).Copy(body)) // not Send, which writes it after the handler
		return err
	})
	res, err := app.Test(httptest.NewRequest("POST", "/", strings.NewReader("dew")))
	if err != nil {
		panic(err)
	}
	answer, _ := io.ReadAll(res.Body)
	kept := <-audit
	defer kept.Release()
	fmt.Printf("%s, and later %s\n", answer, kept.Bytes())
	// Output:
	// dew, and later dew
}
