package dewfiber_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewfiber"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/gofiber/fiber/v3"
	"github.com/gofiber/fiber/v3/middleware/timeout"
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

// big is a body of one request that fiber streams: it is more than the connection's buffer.
func big(first string) io.Reader {
	return io.MultiReader(strings.NewReader(first + strings.Repeat(" ", 9000))) // chunked
}

// post posts a body, and returns the status of the answer, or 0.
func post(t *testing.T, client *http.Client, path string, body io.Reader) int {
	res, err := client.Post("http://x"+path, "", body)
	if err != nil {
		t.Error(err)
		return 0
	}
	defer res.Body.Close()
	io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// fiber calls the ErrorHandler when Middleware has ended. Nobody's memory is to be had there, and
// none is left out.
func TestErrorHandler(t *testing.T) {
	for _, reads := range []bool{false, true} {
		pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
		app := fiber.New(fiber.Config{StreamRequestBody: true, ErrorHandler: func(c fiber.Ctx, err error) error {
			for name, ask := range map[string]func(){
				"Body":  func() { dewfiber.Body(c) },
				"Scope": func() { dewfiber.Scope(c) },
				"Keep":  func() { dewfiber.Keep(c, nil) },
			} {
				if !panics(ask) {
					t.Errorf("%s does not panic", name)
				}
			}
			return c.SendStatus(fiber.StatusTeapot)
		}})
		app.Use(dewfiber.Middleware(dewfiber.Options{Pool: pool}))
		app.Post("/", func(c fiber.Ctx) error {
			if reads {
				if _, err := dewfiber.Body(c); err != nil {
					t.Error(err)
				}
			}
			return fiber.ErrTeapot
		})
		client, _ := serve(t, app)
		for range 100 {
			if status := post(t, client, "/", strings.NewReader("body")); status != fiber.StatusTeapot {
				t.Fatalf("status %d", status)
			}
		}
		if s := pool.Stats(); s.Gets != s.Puts || s.InUseBytes != 0 || reads == (s.Gets == 0) {
			t.Errorf("the handler reads its body: %t: %v", reads, s)
		}
		pool.Close()
	}
}

// A handler that fiber's timeout has given up has the memory that it was given for itself, and
// gets no more.
func TestTimeout(t *testing.T) {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
	defer pool.Close()
	again, read := make(chan bool), make(chan string, 1)
	app := fiber.New(fiber.Config{StreamRequestBody: true})
	app.Use(dewfiber.Middleware(dewfiber.Options{Pool: pool}))
	giveUp := func() {}
	app.Use(func(c fiber.Ctx) error {
		ctx, cancel := context.WithCancel(c.Context())
		giveUp = cancel
		c.SetContext(ctx)
		return c.Next()
	})
	app.Post("/slow", timeout.New(func(c fiber.Ctx) error {
		body, err := dewfiber.Body(c)
		if err != nil {
			t.Error(err)
		}
		piece := dewfiber.Scope(c).Copy(body[:4])
		giveUp()
		<-again
		read <- string(body[:4]) + string(piece)
		if !panics(func() { dewfiber.Scope(c) }) || !panics(func() { dewfiber.Body(c) }) {
			t.Error("Scope or Body after Middleware has ended does not panic")
		}
		close(read)
		return nil
	}, timeout.Config{Timeout: time.Hour}))
	app.Post("/", func(c fiber.Ctx) error {
		body, err := dewfiber.Body(c)
		dewfiber.Scope(c).Copy(body)
		return err
	})
	client, _ := serve(t, app)
	if status := post(t, client, "/slow", big("mine")); status != fiber.StatusRequestTimeout {
		t.Errorf("status %d", status)
	}
	for range 100 {
		post(t, client, "/", big("somebody else's secret"))
	}
	close(again)
	if got := <-read; got != "minemine" {
		t.Errorf("the handler reads %q", got)
	}
	<-read
}

// A body that is cut off is an error where that can be seen.
func TestBodyIsCutOff(t *testing.T) {
	started, got := make(chan bool), make(chan error)
	app := fiber.New(fiber.Config{StreamRequestBody: true})
	app.Use(dewfiber.Middleware(dewfiber.Options{Pool: dewtest.NewBytePool(t, dewpond.BytePoolOptions{})}))
	app.Post("/", func(c fiber.Ctx) error {
		started <- true
		_, err := dewfiber.Body(c)
		got <- err
		return err
	})
	_, listener := serve(t, app)
	for name, request := range map[string]string{
		"half":               "Content-Length: 50000\r\n\r\n" + strings.Repeat("x", 20_000),
		"all but one":        "Content-Length: 50000\r\n\r\n" + strings.Repeat("x", 49_999),
		"a part of a chunk":  "Transfer-Encoding: chunked\r\n\r\n4000\r\n" + strings.Repeat("x", 0x1000),
		"all of a chunk":     "Transfer-Encoding: chunked\r\n\r\n4000\r\n" + strings.Repeat("x", 0x4000) + "\r\n",
		"nothing is missing": "Content-Length: 9000\r\n\r\n" + strings.Repeat("x", 9000),
	} {
		c, err := listener.Dial()
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(c, "POST / HTTP/1.1\r\nHost: x\r\n"+request)
		<-started
		c.Close()
		err = <-got
		switch name {
		case "nothing is missing", "all of a chunk": // the second cannot be seen, as the documentation says
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		default:
			if answer := new(fiber.Error); !errors.Is(err, io.ErrUnexpectedEOF) || !errors.As(err, &answer) || answer.Code != fiber.StatusBadRequest {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}

// Between two Middlewares the outer one's memory is valid before and after the inner one.
func TestMiddlewaresNest(t *testing.T) {
	outer := dewtest.NewBytePool(t, dewpond.BytePoolOptions{Name: "outer"})
	inner := dewtest.NewBytePool(t, dewpond.BytePoolOptions{Name: "inner"})
	app := fiber.New()
	app.Use(dewfiber.Middleware(dewfiber.Options{Pool: outer}))
	app.Use(func(c fiber.Ctx) error {
		before := dewfiber.Scope(c)
		if err := c.Next(); err != nil {
			return err
		}
		if dewfiber.Scope(c) != before {
			t.Error("after the inner Middleware has ended, Scope is not the outer one's")
		}
		dewfiber.Scope(c).Get(10)
		return nil
	})
	app.Use(dewfiber.Middleware(dewfiber.Options{Pool: inner}))
	app.Post("/", func(c fiber.Ctx) error {
		dewfiber.Scope(c).Get(10)
		return nil
	})
	client, _ := serve(t, app)
	if status := post(t, client, "/", http.NoBody); status != fiber.StatusOK {
		t.Errorf("status %d", status)
	}
	for _, s := range []dewpond.Stats{outer.Stats(), inner.Stats()} {
		if s.Gets != 1 {
			t.Errorf("%v", s)
		}
	}
}

// A negative MaxBody is no limit.
func TestNoLimit(t *testing.T) {
	for _, streamed := range []bool{false, true} {
		app := fiber.New(fiber.Config{StreamRequestBody: streamed})
		app.Use(dewfiber.Middleware(dewfiber.Options{Pool: dewtest.NewBytePool(t, dewpond.BytePoolOptions{}), MaxBody: -1}))
		app.Post("/", func(c fiber.Ctx) error {
			_, err := dewfiber.Body(c)
			return err
		})
		client, _ := serve(t, app)
		if status := post(t, client, "/", big("x")); status != fiber.StatusOK {
			t.Errorf("streamed: %t: status %d", streamed, status)
		}
	}
}

// A body for which the pool has no memory is an error with a status, or has an answer of one's
// own. By default there is memory.
func TestNoMemory(t *testing.T) {
	hook := func(c fiber.Ctx, err error) error {
		return c.Status(fiber.StatusTooManyRequests).SendString(fmt.Sprint(c.Path(), errors.Is(err, dewpond.ErrExhausted)))
	}
	for _, tt := range []struct {
		name    string
		options dewfiber.Options
		code    int
		body    string
		after   string
	}{
		{"by default", dewfiber.Options{}, fiber.StatusOK, "", ""},
		{"refused", dewfiber.Options{WhenFull: dewfiber.Refuse}, fiber.StatusServiceUnavailable, "Service Unavailable", "1"},
		{"never to be had", dewfiber.Options{WhenFull: dewfiber.Wait}, fiber.StatusServiceUnavailable, "Service Unavailable", "1"},
		{"an answer of one's own", dewfiber.Options{WhenFull: dewfiber.Refuse, Refused: hook}, fiber.StatusTooManyRequests, "/true", ""},
	} {
		tt.options.Pool = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "bodies", Budget: dewpond.MustBudget("bodies", 64)})
		app := fiber.New(fiber.Config{StreamRequestBody: true})
		app.Use(dewfiber.Middleware(tt.options))
		app.Post("/", func(c fiber.Ctx) error {
			_, err := dewfiber.Body(c)
			if err != nil && !errors.Is(err, dewpond.ErrExhausted) {
				t.Errorf("%s: %v", tt.name, err)
			}
			return err
		})
		client, _ := serve(t, app)
		res, err := client.Post("http://x/", "", big("x"))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(res.Body)
		res.Body.Close()
		if err != nil || res.StatusCode != tt.code || !strings.HasPrefix(string(got), tt.body) || res.Header.Get("Retry-After") != tt.after {
			t.Errorf("%s: status %d, %q, Retry-After %q, %v", tt.name, res.StatusCode, got, res.Header.Get("Retry-After"), err)
		}
		if s := tt.options.Pool.Stats(); s.InUseBytes != 0 || (s.OverBudget == 0) != (tt.options.WhenFull != dewfiber.Exceed) {
			t.Errorf("%s: %v", tt.name, s)
		}
	}
}

// 32 bodies of 1 MiB at a Budget of 4 MiB, beside clients that announce as much and send little.
func TestBodiesStayWithinTheBudget(t *testing.T) {
	const size, limit, bodies, quiet = 1 << 20, 4 << 20, 32, 8
	content := strings.Repeat("0123456789abcdef", size/16)
	for _, full := range []dewfiber.WhenFull{dewfiber.Wait, dewfiber.Refuse} {
		budget := dewpond.MustBudget("bodies", limit)
		pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "bodies", Budget: budget})
		begun, over := make(chan bool, quiet), make(chan bool, quiet)
		app := fiber.New(fiber.Config{StreamRequestBody: true, ErrorHandler: func(c fiber.Ctx, err error) error {
			if answer := new(fiber.Error); errors.As(err, &answer) {
				return c.Status(answer.Code).SendString(answer.Message)
			}
			return err
		}})
		app.Use(dewfiber.Middleware(dewfiber.Options{Pool: pool, WhenFull: full}))
		app.Post("/quiet", func(c fiber.Ctx) error {
			begun <- true
			_, err := dewfiber.Body(c)
			over <- true
			return err
		})
		app.Post("/", func(c fiber.Ctx) error {
			body, err := dewfiber.Body(c)
			if err == nil && string(body) != content {
				t.Errorf("a body of %d bytes is another", len(body))
			}
			if used := budget.Used(); used > limit {
				t.Errorf("%d bytes of %d are charged", used, limit)
			}
			return err
		})
		client, listener := serve(t, app)
		var connections []net.Conn
		for range quiet {
			c, err := listener.Dial()
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(c, "POST /quiet HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", size, content[:20_000]) // fiber reads the first bytes itself
			connections = append(connections, c)
		}
		for range quiet {
			<-begun
		}
		var mu sync.Mutex
		answers := map[int]int{}
		var wg sync.WaitGroup
		for range bodies {
			wg.Go(func() {
				status := post(t, client, "/", strings.NewReader(content))
				mu.Lock()
				defer mu.Unlock()
				answers[status]++
			})
		}
		wg.Wait()
		t.Logf("WhenFull %d: answers %v", full, answers)
		if ok := answers[fiber.StatusOK]; ok < 2 || ok+answers[fiber.StatusServiceUnavailable] != bodies {
			t.Errorf("WhenFull %d: answers %v", full, answers)
		}
		for _, c := range connections {
			c.Close()
		}
		for range quiet {
			<-over
		}
		if s := pool.Stats(); s.OverBudget != 0 {
			t.Error(s)
		}
	}
}

// fasthttp takes what a handler leaves of a streamed body for the next request, so a client could
// hide one in its body from what stands in front of the server.
func TestRestOfBodyIsNoRequest(t *testing.T) {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name(), Budget: dewpond.MustBudget(t.Name(), 64)})
	for _, o := range []dewfiber.Options{
		{Pool: pool, WhenFull: dewfiber.Refuse},
		{Pool: pool, WhenFull: dewfiber.Refuse, MaxBody: -1},
		{Pool: pool, MaxBody: 100},
	} {
		for _, chunked := range []bool{false, true} {
			app := fiber.New(fiber.Config{StreamRequestBody: true})
			app.Use(dewfiber.Middleware(o))
			app.Post("/", func(c fiber.Ctx) error {
				_, err := dewfiber.Body(c)
				return err
			})
			app.Get("/within", func(c fiber.Ctx) error {
				t.Errorf("WhenFull %d, MaxBody %d: a part of a body is taken for a request", o.WhenFull, o.MaxBody)
				return nil
			})
			_, listener := serve(t, app)
			c, err := listener.Dial()
			if err != nil {
				t.Fatal(err)
			}
			within := strings.Repeat("GET /within HTTP/1.1\r\nHost: x\r\n\r\n", 1000)
			head, tail := fmt.Sprintf("Content-Length: %d\r\n\r\n", len(within)), ""
			if chunked {
				head, tail = fmt.Sprintf("Transfer-Encoding: chunked\r\n\r\n%x\r\n", len(within)), "\r\n0\r\n\r\n"
			}
			sent := "POST / HTTP/1.1\r\nHost: x\r\n" + head + within + tail
			go io.WriteString(c, sent+"GET /last HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
			answers, err := io.ReadAll(c)
			want := 1
			if o.WhenFull == dewfiber.Refuse { // the rest was read, and the connection goes on
				want = 2
			}
			if n := strings.Count(string(answers), "HTTP/1.1 "); err != nil || n != want {
				t.Errorf("WhenFull %d, MaxBody %d, chunked %t: %d answers, want %d, %v", o.WhenFull, o.MaxBody, chunked, n, want, err)
			}
			c.Close()
		}
	}
}
