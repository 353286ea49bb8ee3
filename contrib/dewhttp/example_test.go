package dewhttp_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewhttp"
)

func ExampleMiddleware() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "requests"})
	shout := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := dewhttp.ReadBody(r)
		if err != nil {
			dewhttp.Error(w, err)
			return
		}
		answer := dewhttp.ScopeOf(r.Context()).Copy(body)
		for i, c := range answer {
			if 'a' <= c && c <= 'z' {
				answer[i] = c - 'a' + 'A'
			}
		}
		w.Write(answer)
	})
	handler := dewhttp.Middleware(dewhttp.Options{Pool: pool, MaxBody: 8})(shout)

	for _, body := range []string{"hello", "a long body"} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body)))
		fmt.Println(w.Code, strings.TrimSpace(w.Body.String()))
	}
	fmt.Println("in use:", pool.Stats().InUseBytes)
	// Output:
	// 200 HELLO
	// 413 Request Entity Too Large
	// in use: 0
}

// A server that refuses bodies for which its Budget has no memory.
func ExampleWhenFull() {
	budget := dewpond.MustBudget("uploads", 100<<10)
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "uploads", Budget: budget})
	size := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := dewhttp.ReadBody(r)
		if err != nil {
			dewhttp.Error(w, err)
			return
		}
		fmt.Fprint(w, len(body))
	})
	handler := dewhttp.Middleware(dewhttp.Options{Pool: pool, WhenFull: dewhttp.Refuse})(size)

	for _, n := range []int{30 << 10, 90 << 10} {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(strings.Repeat("x", n))))
		fmt.Printf("%d %s, Retry-After: %q\n", w.Code, strings.TrimSpace(w.Body.String()), w.Header().Get("Retry-After"))
	}
	// Output:
	// 200 30720, Retry-After: ""
	// 503 Service Unavailable, Retry-After: "1"
}

func ExampleBufferPool() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "proxy"})
	target, _ := url.Parse("http://127.0.0.1:8081")
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.BufferPool = dewhttp.BufferPool{Pool: pool}
}

func ExamplePayload() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s, of length %d", body, r.ContentLength)
	}))
	defer server.Close()

	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "payloads"})
	b := pool.Buffer()
	fmt.Fprintf(b, `{"id":%d}`, 7)
	payload := dewhttp.NewPayload(b)
	defer payload.Close()

	req, err := payload.NewRequest(context.Background(), http.MethodPost, server.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer res.Body.Close()
	answer, _ := io.ReadAll(res.Body)
	fmt.Printf("%s\n", answer)
	// Output:
	// {"id":7}, of length 8
}
