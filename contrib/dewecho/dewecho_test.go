package dewecho_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewecho"
	"github.com/dewpond/dewpond/contrib/dewhttp"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/labstack/echo/v5"
)

func newServer(pool *dewpond.BytePool, after func()) *echo.Echo {
	e := echo.New()
	e.Use(func(next echo.HandlerFunc) echo.HandlerFunc {
		return func(c *echo.Context) error { defer after(); return next(c) }
	}, dewecho.Middleware(dewhttp.Options{Pool: pool, MaxBody: 100_000}))
	e.POST("/", func(c *echo.Context) error {
		body, err := dewecho.Body(c)
		if err != nil {
			return err
		}
		return c.Blob(http.StatusOK, "text/plain", dewecho.Scope(c).Copy(body))
	})
	return e
}

func TestEcho(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	e := newServer(pool, func() {})
	for _, size := range []int{0, 1, 5000, 100_000, 100_001} {
		want := bytes.Repeat([]byte("x"), size)
		for _, body := range []io.Reader{bytes.NewReader(want), io.MultiReader(bytes.NewReader(want))} { // the second has no length
			w := httptest.NewRecorder()
			e.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", body))
			switch {
			case size > 100_000 && w.Code != http.StatusRequestEntityTooLarge:
				t.Errorf("%d bytes: status %d, want 413", size, w.Code)
			case size <= 100_000 && (w.Code != http.StatusOK || !bytes.Equal(w.Body.Bytes(), want)):
				t.Errorf("%d bytes: status %d, %d bytes", size, w.Code, w.Body.Len())
			}
		}
	}
}

func TestClientsHangUp(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	var over sync.WaitGroup
	over.Add(20)
	server := httptest.NewServer(newServer(pool, over.Done))
	for i := range 20 {
		c, err := net.Dial("tcp", server.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 50000\r\n\r\n%s", strings.Repeat("x", 1+i*2000))
		c.Close()
	}
	over.Wait()
	server.Close()
}

// echo calls the HTTPErrorHandler when Middleware has ended. Who asks there is told the reason.
func TestErrorHandler(t *testing.T) {
	e := newServer(dewtest.NewBytePool(t, dewpond.BytePoolOptions{}), func() {})
	e.GET("/", func(c *echo.Context) error { return echo.ErrNotFound })
	handled := 0
	e.HTTPErrorHandler = func(c *echo.Context, err error) {
		for _, ask := range []func(){func() { dewecho.Body(c) }, func() { dewecho.Scope(c) }} {
			func() {
				defer func() {
					if reason := fmt.Sprint(recover()); !strings.Contains(reason, "ask before it returns") {
						t.Errorf("the panic is %q", reason)
					}
					handled++
				}()
				ask()
			}()
		}
	}
	e.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	if handled != 2 {
		t.Errorf("%d questions, want 2", handled)
	}
}

// A handler that a TimeoutHandler has given up reads its own bytes, whatever later requests
// send.
func TestHandlerThatOutlivesTheMiddleware(t *testing.T) {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
	defer pool.Close()
	started, again, read := make(chan bool), make(chan bool), make(chan string, 1)
	e := newServer(pool, func() {})
	e.POST("/late", echo.WrapHandler(http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := dewhttp.ReadBody(r)
		if err != nil {
			t.Error(err)
		}
		piece := dewhttp.ScopeOf(r.Context()).Copy(body)
		close(started)
		<-again
		read <- string(body) + string(piece)
	}), time.Hour, "late")))
	post := func(ctx context.Context, path, body string) {
		e.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body)))
	}
	ctx, giveUp := context.WithCancel(t.Context()) // TimeoutHandler does not wait for the handler then
	answered := make(chan bool)
	go func() {
		post(ctx, "/late", "mine")
		close(answered)
	}()
	<-started
	giveUp()
	<-answered
	for range 100 {
		post(t.Context(), "/", "somebody else's secret")
	}
	close(again)
	if got := <-read; got != "minemine" {
		t.Errorf("the handler reads %q", got)
	}
}

// A request that was made without a body, as tests make it, has an empty one.
func TestNoBody(t *testing.T) {
	e := newServer(dewtest.NewBytePool(t, dewpond.BytePoolOptions{}), func() {})
	e.GET("/", func(c *echo.Context) error {
		body, err := dewecho.Body(c)
		if body == nil || len(body) != 0 || err != nil {
			t.Errorf("%v, %v", body, err)
		}
		return err
	})
	r, err := http.NewRequest(http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	e.ServeHTTP(w, r)
	if w.Code != http.StatusOK { // else the handler has not run
		t.Errorf("status %d", w.Code)
	}
}

// A body that was cut off, and one for which the pool has no memory, are errors with a status.
func TestBodyFails(t *testing.T) {
	hook := func(w http.ResponseWriter, r *http.Request, err error) {
		http.Error(w, r.URL.Path, http.StatusTooManyRequests)
	}
	for _, tt := range []struct {
		name    string
		budget  int64
		options dewhttp.Options
		length  int64
		code    int
		body    string
		after   string
		want    error
	}{
		{"cut off", 4 << 20, dewhttp.Options{WhenFull: dewhttp.Wait}, 6000, http.StatusBadRequest, "Bad Request", "", io.ErrUnexpectedEOF},
		{"no memory, by default", 64, dewhttp.Options{}, 5000, http.StatusOK, "", "", nil},
		{"no memory", 64, dewhttp.Options{WhenFull: dewhttp.Refuse}, 5000, http.StatusServiceUnavailable, "Service Unavailable", "1", dewpond.ErrExhausted},
		{"no memory, ever", 64, dewhttp.Options{WhenFull: dewhttp.Wait}, 5000, http.StatusServiceUnavailable, "Service Unavailable", "1", dewpond.ErrExhausted},
		{"an answer of one's own", 64, dewhttp.Options{WhenFull: dewhttp.Refuse, Refused: hook}, 5000, http.StatusTooManyRequests, "/\n", "", dewpond.ErrExhausted},
	} {
		tt.options.Pool = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "bodies", Budget: dewpond.MustBudget("bodies", tt.budget)})
		e := echo.New()
		e.Use(dewecho.Middleware(tt.options))
		e.POST("/", func(c *echo.Context) error {
			_, err := dewecho.Body(c)
			if !errors.Is(err, tt.want) {
				t.Errorf("%s: %v", tt.name, err)
			}
			return err
		})
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", 5000)))
		r.ContentLength = tt.length
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		if w.Code != tt.code || !strings.Contains(w.Body.String(), tt.body) || w.Header().Get("Retry-After") != tt.after {
			t.Errorf("%s: status %d, %q, Retry-After %q", tt.name, w.Code, w.Body, w.Header().Get("Retry-After"))
		}
		if s := tt.options.Pool.Stats(); s.InUseBytes != 0 {
			t.Errorf("%s: %v", tt.name, s)
		}
		tt.options.Pool.Close()
	}
}
