package dewgin_test

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
	"github.com/dewpond/dewpond/contrib/dewgin"
	"github.com/dewpond/dewpond/contrib/dewhttp"
	"github.com/dewpond/dewpond/dewtest"
	"github.com/gin-gonic/gin"
)

func newRouter(pool *dewpond.BytePool, after func()) *gin.Engine {
	router := gin.New()
	router.Use(func(c *gin.Context) { defer after(); c.Next() }, dewgin.Middleware(dewhttp.Options{Pool: pool, MaxBody: 100_000}))
	router.POST("/", func(c *gin.Context) {
		if body, ok := dewgin.Body(c); ok {
			c.Data(http.StatusOK, "text/plain", dewgin.Scope(c).Copy(body))
		}
	})
	return router
}

func TestEcho(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	router := newRouter(pool, func() {})
	for _, size := range []int{0, 1, 5000, 100_000, 100_001} {
		want := bytes.Repeat([]byte("x"), size)
		for _, body := range []io.Reader{bytes.NewReader(want), io.MultiReader(bytes.NewReader(want))} { // the second has no length
			w := httptest.NewRecorder()
			router.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", body))
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
	server := httptest.NewServer(newRouter(pool, over.Done))
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

// A handler that a TimeoutHandler has given up reads its own bytes, whatever later requests
// send.
func TestHandlerThatOutlivesTheMiddleware(t *testing.T) {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
	defer pool.Close()
	started, again, read := make(chan bool), make(chan bool), make(chan string, 1)
	router := newRouter(pool, func() {})
	router.POST("/late", gin.WrapH(http.TimeoutHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
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
		router.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, path, strings.NewReader(body)))
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
	router := newRouter(dewtest.NewBytePool(t, dewpond.BytePoolOptions{}), func() {})
	router.GET("/", func(c *gin.Context) {
		if body, ok := dewgin.Body(c); body == nil || len(body) != 0 || !ok {
			t.Errorf("%v, %t", body, ok)
		}
	})
	r, err := http.NewRequest(http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	router.ServeHTTP(w, r)
	if w.Code != http.StatusOK { // else the handler has not run
		t.Errorf("status %d", w.Code)
	}
}

// A body that was cut off, and one for which the pool has no memory, abort the request.
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
		{"cut off", 4 << 20, dewhttp.Options{WhenFull: dewhttp.Wait}, 6000, http.StatusBadRequest, "", "", io.ErrUnexpectedEOF},
		{"no memory, by default", 64, dewhttp.Options{}, 5000, http.StatusOK, "", "", nil},
		{"no memory", 64, dewhttp.Options{WhenFull: dewhttp.Refuse}, 5000, http.StatusServiceUnavailable, "Service Unavailable\n", "1", dewpond.ErrExhausted},
		{"no memory, ever", 64, dewhttp.Options{WhenFull: dewhttp.Wait}, 5000, http.StatusServiceUnavailable, "Service Unavailable\n", "1", dewpond.ErrExhausted},
		{"an answer of one's own", 64, dewhttp.Options{WhenFull: dewhttp.Refuse, Refused: hook}, 5000, http.StatusTooManyRequests, "/\n", "", dewpond.ErrExhausted},
	} {
		tt.options.Pool = dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "bodies", Budget: dewpond.MustBudget("bodies", tt.budget)})
		router := gin.New()
		router.Use(func(c *gin.Context) {
			c.Next()
			if err := c.Errors.Last(); tt.want == nil != (err == nil) || err != nil && !errors.Is(err, tt.want) {
				t.Errorf("%s: the Context's error is %v", tt.name, err)
			}
		}, dewgin.Middleware(tt.options))
		router.POST("/", func(c *gin.Context) {
			if _, ok := dewgin.Body(c); ok != (tt.want == nil) || c.IsAborted() == ok {
				t.Errorf("%s: Body returns %t, aborted %t", tt.name, ok, c.IsAborted())
			}
		}, func(c *gin.Context) {
			if tt.want != nil {
				t.Errorf("%s: the next handler runs", tt.name)
			}
		})
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", 5000)))
		r.ContentLength = tt.length
		w := httptest.NewRecorder()
		router.ServeHTTP(w, r)
		if w.Code != tt.code || w.Body.String() != tt.body || w.Header().Get("Retry-After") != tt.after {
			t.Errorf("%s: status %d, %q, Retry-After %q", tt.name, w.Code, w.Body, w.Header().Get("Retry-After"))
		}
		if s := tt.options.Pool.Stats(); s.InUseBytes != 0 {
			t.Errorf("%s: %v", tt.name, s)
		}
		tt.options.Pool.Close()
	}
}
