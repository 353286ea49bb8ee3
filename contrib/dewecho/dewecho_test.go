package dewecho_test

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

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
