package dewfiber_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewfiber"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/gofiber/fiber/v3"
	"github.com/valyala/fasthttp/fasthttputil"
)

const most = 100_000

func newApp(pool *dewpond.BytePool, streamed bool) *fiber.App {
	app := fiber.New(fiber.Config{StreamRequestBody: streamed, BodyLimit: 2 * most})
	app.Use(dewfiber.Middleware(dewfiber.Options{Pool: pool, MaxBody: most}))
	app.Post("/", func(c fiber.Ctx) error {
		body, err := dewfiber.Body(c)
		if err != nil {
			return err
		}
		if again, err := dewfiber.Body(c); err != nil || !bytes.Equal(again, body) {
			return fmt.Errorf("the second Body has %d bytes, %w", len(again), err)
		}
		_, err = c.Write(dewfiber.Scope(c).Copy(body))
		return err
	})
	return app
}

// serve runs the app on a listener in memory, and returns a client of it. Both end when the
// test ends, before the pool looks for leaks.
func serve(t *testing.T, app *fiber.App) (*http.Client, *fasthttputil.InmemoryListener) {
	listener := fasthttputil.NewInmemoryListener()
	served := make(chan error, 1)
	go func() { served <- app.Listener(listener, fiber.ListenConfig{DisableStartupMessage: true}) }()
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return listener.Dial() },
	}}
	t.Cleanup(func() {
		client.CloseIdleConnections()
		if err := app.Shutdown(); err != nil {
			t.Error(err)
		}
		<-served
	})
	return client, listener
}

func TestEcho(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		t.Run(fmt.Sprint("streamed=", streamed), func(t *testing.T) {
			pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
			client, _ := serve(t, newApp(pool, streamed))
			for _, size := range []int{0, 1, 5000, most, most + 1} {
				want := bytes.Repeat([]byte("x"), size)
				res, err := client.Post("http://x/", "", bytes.NewReader(want))
				if err != nil {
					t.Fatal(err)
				}
				got, err := io.ReadAll(res.Body)
				res.Body.Close()
				switch {
				case err != nil:
					t.Error(err)
				case size > most && res.StatusCode != http.StatusRequestEntityTooLarge:
					t.Errorf("%d bytes: status %d, want 413", size, res.StatusCode)
				case size <= most && (res.StatusCode != http.StatusOK || !bytes.Equal(got, want)):
					t.Errorf("%d bytes: status %d, %d bytes", size, res.StatusCode, len(got))
				}
			}
		})
	}
}

func TestClientsHangUp(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	app := newApp(pool, true)
	_, listener := serve(t, app)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			c, err := listener.Dial()
			if err != nil {
				t.Error(err)
				return
			}
			fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n%s", strings.Repeat("x", 1+i*2000))
			c.Close()
		})
	}
	wg.Wait()
}

// What a handler keeps of fiber's buffers changes with the next request. What it has copied
// by Keep does not.
func TestWhatOutlivesTheHandler(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	app := fiber.New()
	app.Use(dewfiber.Middleware(dewfiber.Options{Pool: pool}))
	var kept []byte          // wrong: of the request before
	var copied dewpond.Lease // right: the same bytes
	changed := 0
	app.Post("/", func(c fiber.Ctx) error {
		body, err := dewfiber.Body(c)
		if err != nil {
			return err
		}
		if copied != (dewpond.Lease{}) {
			if !bytes.Equal(kept, copied.Bytes()) {
				changed++
			}
			if got := copied.Bytes(); got[0] == body[0] {
				t.Errorf("a copy has changed to %q", got)
			}
			copied.Release()
		}
		kept, copied = body, dewfiber.Keep(c, body)
		return nil
	})
	client, _ := serve(t, app)
	for i := range 50 { // on one connection
		res, err := client.Post("http://x/", "", strings.NewReader(fmt.Sprintf("%c is the first byte", 'A'+i%20)))
		if err != nil {
			t.Fatal(err)
		}
		io.Copy(io.Discard, res.Body)
		res.Body.Close()
	}
	copied.Release()
	if changed == 0 {
		t.Error("no slice that was kept has changed: fiber does not reuse its buffers any more, so say so in the documentation")
	}
}
