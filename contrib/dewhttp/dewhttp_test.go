package dewhttp_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewhttp"
	"github.com/dewpond/dewpond/dewtest"
)

// echo answers with the body, by way of the Scope.
func echo(w http.ResponseWriter, r *http.Request) {
	body, err := dewhttp.ReadBody(r)
	if err != nil {
		dewhttp.Error(w, err)
		return
	}
	w.Write(dewhttp.ScopeOf(r.Context()).Copy(body))
}

// serve starts a server whose handler has finished with all requests when the test ends,
// before the pool looks for leaks.
func serve(t *testing.T, h http.Handler) *httptest.Server {
	var handlers sync.WaitGroup
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handlers.Add(1)
		defer handlers.Done()
		h.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
		handlers.Wait()
	})
	return server
}

// hangUp sends a request that promises more than it sends, and leaves.
func hangUp(t *testing.T, server *httptest.Server, header string) {
	c, err := net.Dial("tcp", server.Listener.Addr().String())
	if err != nil {
		t.Error(err)
		return
	}
	fmt.Fprintf(c, "POST / HTTP/1.1\r\nHost: x\r\n%s\r\n\r\n%s", header, strings.Repeat("x", 5000))
	c.Close()
}

func TestMiddleware(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	server := serve(t, dewhttp.Middleware(dewhttp.Options{Pool: pool, MaxBody: 200_000})(http.HandlerFunc(echo)))
	for _, size := range []int{0, 1, 511, 512, 70_000, 200_000} {
		want := bytes.Repeat([]byte{byte(size), 1, 2}, size/3+1)[:size]
		for _, body := range []io.Reader{bytes.NewReader(want), io.MultiReader(bytes.NewReader(want))} { // the second is sent chunked
			res, err := http.Post(server.URL, "", body)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(res.Body)
			res.Body.Close()
			if err != nil || res.StatusCode != http.StatusOK || !bytes.Equal(got, want) {
				t.Errorf("%d bytes: status %d, %d bytes, %v", size, res.StatusCode, len(got), err)
			}
		}
	}
}

func TestTooLarge(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	handler := dewhttp.Middleware(dewhttp.Options{Pool: pool, MaxBody: 1000})(http.HandlerFunc(echo))
	for _, declared := range []bool{true, false} {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", 1001)))
		if !declared {
			r.ContentLength = -1
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code != http.StatusRequestEntityTooLarge {
			t.Errorf("length declared %v: status %d, want 413", declared, w.Code)
		}
	}
}

func TestClientsHangUp(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	var failed sync.WaitGroup
	failed.Add(40)
	handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		dewhttp.ScopeOf(r.Context()).Get(3000)
		if _, err := dewhttp.ReadBody(r); err != nil {
			failed.Done()
		}
		if _, err := dewhttp.ReadBody(r); err == nil {
			t.Error("the second ReadBody returns no error")
		}
		panic(http.ErrAbortHandler)
	})
	server := serve(t, dewhttp.Middleware(dewhttp.Options{Pool: pool})(handler))
	for range 20 {
		hangUp(t, server, "Content-Length: 100000")
		hangUp(t, server, "Transfer-Encoding: chunked\r\n\r\n2000") // a chunk of 8192 bytes
	}
	failed.Wait()
}

// A goroutine that outlives the handler is told so.
func TestAfterTheHandler(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	var kept *http.Request
	handler := dewhttp.Middleware(dewhttp.Options{Pool: pool})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { kept = r }))
	handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", nil))
	for _, r := range []*http.Request{kept, httptest.NewRequest(http.MethodGet, "/", nil)} {
		func() {
			defer func() {
				if recover() == nil {
					t.Error("ScopeOf does not panic")
				}
			}()
			dewhttp.ScopeOf(r.Context())
		}()
	}
}

// outlives is a handler behind a TimeoutHandler that goes on after it: it says so by started,
// and reads its body again once it may.
func outlives(started chan<- *http.Request, again <-chan bool, read chan<- string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := dewhttp.ReadBody(r)
		if err != nil {
			read <- err.Error()
			return
		}
		piece := dewhttp.ScopeOf(r.Context()).Copy(body)
		started <- r
		<-again
		read <- string(body) + string(piece)
	})
}

// A handler that a TimeoutHandler has given up reads its own bytes, whatever later requests
// send, and cannot ask for more.
func TestHandlerThatOutlivesTheMiddleware(t *testing.T) {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
	defer pool.Close()
	started, again, read := make(chan *http.Request), make(chan bool), make(chan string, 1)
	middleware := dewhttp.Middleware(dewhttp.Options{Pool: pool})
	late := middleware(http.TimeoutHandler(outlives(started, again, read), time.Hour, "late"))
	post := func(ctx context.Context, h http.Handler, body string) {
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequestWithContext(ctx, http.MethodPost, "/", strings.NewReader(body)))
	}
	ctx, giveUp := context.WithCancel(t.Context()) // TimeoutHandler does not wait for the handler then
	answered := make(chan bool)
	go func() {
		post(ctx, late, "mine")
		close(answered)
	}()
	r := <-started
	giveUp()
	<-answered
	for range 100 {
		post(t.Context(), middleware(http.HandlerFunc(echo)), "somebody else's secret")
	}
	close(again)
	if got := <-read; got != "minemine" {
		t.Errorf("the handler reads %q", got)
	}
	for range 2 { // and each time
		if !panics(func() { dewhttp.ReadBody(r) }) {
			t.Error("ReadBody after the middleware has ended does not panic")
		}
		if !panics(func() { dewhttp.ScopeOf(r.Context()) }) {
			t.Error("ScopeOf after the middleware has ended does not panic")
		}
	}
}

func panics(f func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	f()
	return false
}

// What a handler asks for with a context of another middleware goes back, unless that context
// is cancelled with the request.
func TestContextsOfOthers(t *testing.T) {
	type key struct{}
	for _, tt := range []struct {
		name   string
		derive func(ctx context.Context) (context.Context, context.CancelFunc)
		back   bool
	}{
		{"a value", func(ctx context.Context) (context.Context, context.CancelFunc) {
			return context.WithValue(ctx, key{}, 1), func() {}
		}, true},
		{"one that is not cancelled", func(ctx context.Context) (context.Context, context.CancelFunc) {
			ctx, cancel := context.WithTimeout(ctx, time.Hour)
			t.Cleanup(cancel)
			return ctx, func() {}
		}, true},
		{"one that is cancelled", context.WithCancel, false},
	} {
		pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
		h := dewhttp.Middleware(dewhttp.Options{Pool: pool})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			ctx, cancel := tt.derive(r.Context())
			defer cancel()
			echo(w, r.WithContext(ctx))
		}))
		h.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "/", strings.NewReader("hello")))
		if s := pool.Stats(); (s.InUseBytes == 0) != tt.back {
			t.Errorf("%s: %v", tt.name, s)
		}
		pool.Close()
	}
}

// What handlers inside a TimeoutHandler leave to the collector stays in use for the pool, but not
// for its Budget, as docs/metrics.md says. Outside of the Middleware it leaves nothing.
func TestWhatATimeoutLeaves(t *testing.T) {
	for _, inside := range []bool{false, true} {
		budget := dewpond.MustBudget(t.Name(), 16<<20)
		pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name(), Budget: budget})
		middleware := dewhttp.Middleware(dewhttp.Options{Pool: pool, WhenFull: dewhttp.Refuse})
		h := http.TimeoutHandler(middleware(http.HandlerFunc(echo)), time.Hour, "late")
		if inside {
			h = middleware(http.TimeoutHandler(http.HandlerFunc(echo), time.Hour, "late"))
		}
		for range 100 {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", 100_000))))
			if w.Code != http.StatusOK {
				t.Fatalf("status %d", w.Code)
			}
		}
		for budget.Used() > pool.Stats().IdleBytes {
			runtime.GC()
		}
		if used := pool.Stats().InUseBytes; (used == 0) == inside {
			t.Errorf("inside %t: %d bytes are in use for the pool", inside, used)
		}
		pool.Close()
	}
}

// A request that was made without a body, as tests make it, has an empty one.
func TestNoBody(t *testing.T) {
	h := dewhttp.Middleware(dewhttp.Options{})(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if body, err := dewhttp.ReadBody(r); body == nil || len(body) != 0 || err != nil {
			t.Errorf("%v, %v", body, err)
		}
	}))
	r, err := http.NewRequest(http.MethodGet, "/", nil)
	if err != nil {
		t.Fatal(err)
	}
	h.ServeHTTP(httptest.NewRecorder(), r)
}

func TestReverseProxy(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	want := bytes.Repeat([]byte("dew"), 100_000)
	target := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for rest := want; len(rest) > 0 && r.Context().Err() == nil; rest = rest[10_000:] {
			w.Write(rest[:10_000])
		}
	}))
	address, err := url.Parse(target.URL)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(address)
	proxy.BufferPool = dewhttp.BufferPool{Pool: pool}
	server := serve(t, proxy)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			res, err := http.Get(server.URL)
			if err != nil {
				t.Error(err)
				return
			}
			defer res.Body.Close()
			if i%2 == 0 { // leaves midway
				io.CopyN(io.Discard, res.Body, 1000)
				return
			}
			if got, err := io.ReadAll(res.Body); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
		})
	}
	wg.Wait()
}

func TestPayload(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	want := strings.Repeat("payload ", 50_000)
	server := serve(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/redirect":
			io.Copy(io.Discard, r.Body) // else it may close before the client has written all, as below
			http.Redirect(w, r, "/", http.StatusTemporaryRedirect)
		case "/hang": // answers before it has read the body, and closes
			w.Header().Set("Connection", "close")
			w.WriteHeader(http.StatusTeapot)
		default:
			got, err := io.ReadAll(r.Body)
			if err != nil || string(got) != want || r.ContentLength != int64(len(want)) {
				t.Errorf("%d bytes, ContentLength %d, %v", len(got), r.ContentLength, err)
			}
		}
	}))
	var wg sync.WaitGroup
	for i := range 30 {
		wg.Go(func() {
			b := pool.Buffer()
			b.WriteString(want)
			payload := dewhttp.NewPayload(b)
			defer payload.Close()
			req, err := payload.NewRequest(t.Context(), http.MethodPost, server.URL+[]string{"/", "/redirect", "/hang"}[i%3])
			if err != nil {
				t.Error(err)
				return
			}
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				if i%3 != 2 { // the server may close before the client has written all
					t.Error(err)
				}
				return
			}
			res.Body.Close()
		})
	}
	wg.Wait()
	http.DefaultClient.CloseIdleConnections()
	idle(pool)
}

func TestPayloadIsClosed(t *testing.T) {
	pool := dewtest.NewBytePool(t, dewpond.BytePoolOptions{})
	b := pool.Buffer()
	empty := dewhttp.NewPayload(b)
	if req, err := empty.NewRequest(t.Context(), http.MethodPost, "http://x"); err != nil || req.Body != http.NoBody {
		t.Errorf("an empty payload: %v, %v", req, err)
	}
	empty.Close()
	b.WriteString("hello")
	payload := dewhttp.NewPayload(b)
	req, err := payload.NewRequest(context.Background(), http.MethodPost, "http://x")
	if err != nil {
		t.Fatal(err)
	}
	payload.Close()
	payload.Close()
	if got, err := io.ReadAll(req.Body); string(got) != "hello" || err != nil { // it owns the block, too
		t.Errorf("%q, %v", got, err)
	}
	req.Body.Close()
	if _, err := req.Body.Read(make([]byte, 1)); err != http.ErrBodyReadAfterClose {
		t.Errorf("Read after Close: %v", err)
	}
	if _, err := req.GetBody(); err == nil {
		t.Error("GetBody after Payload.Close returns no error")
	}
}

// idle waits until nothing of the pool is out: a Transport may close a body after it has
// answered.
func idle(pool *dewpond.BytePool) {
	for pool.Stats().InUseBytes > 0 {
		time.Sleep(time.Millisecond)
	}
}
