package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
)

// orderLines returns a body of n orders.
func orderLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, "symbol%d %d %d\n", i, i*7919%1000, i*104729%100_000)
	}
	return b.Bytes()
}

// A call is one request that is repeated, and its answer. It allocates nothing itself,
// so that only the handler's allocations are counted.
type call struct {
	request http.Request
	sent    bytes.Reader
	body    []byte

	header http.Header
	status int
	answer []byte
}

func newCall(body []byte) *call {
	c := &call{body: body, header: http.Header{}}
	c.request = http.Request{Method: "POST", ContentLength: int64(len(body)), Body: io.NopCloser(&c.sent)}
	return c
}

func (c *call) do(h http.Handler) {
	c.sent.Reset(c.body)
	clear(c.header)
	c.status, c.answer = http.StatusOK, c.answer[:0]
	h.ServeHTTP(c, &c.request)
}

func (c *call) Header() http.Header    { return c.header }
func (c *call) WriteHeader(status int) { c.status = status }

func (c *call) Write(p []byte) (int, error) {
	c.answer = append(c.answer, p...)
	return len(p), nil
}

func newScoped(t testing.TB) http.Handler {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
	t.Cleanup(func() {
		if s := pool.Stats(); s.InUseBytes != 0 {
			t.Errorf("%d bytes are still in use", s.InUseBytes)
		}
		pool.Close()
	})
	return scoped{pool}
}

func TestBothAnswerTheSame(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		answer     string // "": only that both are the same
	}{
		{"empty", "", 200, ""},
		{"one", "apple 3 120", 200, "apple 360\n"},
		{"sorted", "apple 3 120\npear 10 80\nfig 1 1\n", 200, "pear 800\napple 360\nfig 1\n"},
		{"equal values stay in order", "b 2 2\na 4 1\nc 1 4\n", 200, "b 4\na 4\nc 4\n"},
		{"greatest", "x 4294967295 4294967295\n", 200, "x 18446744065119617025\n"},
		{"no symbol", " 2 3\n", 200, " 6\n"},
		{"blank line", "a 1 1\n\nb 1 1\n", 400, ""},
		{"no price", "a 1\n", 400, ""},
		{"not a number", "a 1 x\n", 400, ""},
		{"a hundred", string(orderLines(100)), 200, ""},
		{"larger than a chunk", string(orderLines(3000)), 200, ""},
		{"a megabyte and one", strings.Repeat(" ", 1<<20+1), 413, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			handler := newScoped(t)
			one, two := newCall([]byte(tt.body)), newCall([]byte(tt.body))
			for range 3 { // the later ones use blocks that were used before
				one.do(handler)
				two.do(http.HandlerFunc(plain))
				if one.status != tt.status || two.status != tt.status {
					t.Fatalf("scoped answers %d, plain %d, want %d", one.status, two.status, tt.status)
				}
				if !bytes.Equal(one.answer, two.answer) {
					t.Fatalf("scoped answers\n%s\nplain\n%s", one.answer, two.answer)
				}
				if tt.answer != "" && string(one.answer) != tt.answer {
					t.Fatalf("%q, want %q", one.answer, tt.answer)
				}
			}
		})
	}
}

// Neither handler reads a body that is shorter than announced, or of unknown length.
func TestBodiesThatCannotBeRead(t *testing.T) {
	for name, handler := range map[string]http.Handler{"scoped": newScoped(t), "plain": http.HandlerFunc(plain)} {
		short := newCall([]byte("a 1 1\n"))
		short.request.ContentLength++
		short.do(handler)
		unknown := newCall([]byte("a 1 1\n"))
		unknown.request.ContentLength = -1
		unknown.do(handler)
		if short.status != http.StatusBadRequest || unknown.status != http.StatusLengthRequired {
			t.Errorf("%s: %d, %d; want 400, 411", name, short.status, unknown.status)
		}
	}
}

// The plain handler allocates the body, the orders, the answer and a header's value.
// The scoped one allocates the header's value alone, which net/http requires.
func TestScopeSavesThreeAllocations(t *testing.T) {
	if os.Getenv("DEWPOND_CHECK") != "" {
		t.Skip("a pool that is watched allocates what it notes")
	}
	for _, n := range []int{5, 100, 500} {
		handler := newScoped(t)
		c := newCall(orderLines(n))
		for range 200 { // the portable engine chooses its shards at random
			c.do(handler)
		}
		inScope := leastAllocs(func() { c.do(handler) })
		withMake := leastAllocs(func() { c.do(http.HandlerFunc(plain)) })
		if inScope != 1 || withMake != 4 {
			t.Errorf("%d orders: %v allocations in a scope, %v with make; want 1 and 4", n, inScope, withMake)
		}
	}
}

// leastAllocs returns the least of several results of AllocsPerRun, which counts the
// allocations of the whole process, including those of a collection and of a pool's
// timer.
func leastAllocs(f func()) float64 {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	least := testing.AllocsPerRun(100, f)
	for range 4 {
		least = min(least, testing.AllocsPerRun(100, f))
	}
	return least
}

func TestServe(t *testing.T) {
	listener, err := net.Listen("tcp", "localhost:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, interrupt := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- serve(ctx, listener) }()
	for _, path := range []string{"/scoped", "/plain"} {
		r, err := http.Post("http://"+listener.Addr().String()+path, "text/plain", strings.NewReader("apple 3 120\npear 10 80\n"))
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil || string(answer) != "pear 800\napple 360\n" {
			t.Errorf("%s: %q, %v", path, answer, err)
		}
	}
	interrupt()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// BenchmarkHandler times one request without the network, in a scope and with make.
func BenchmarkHandler(b *testing.B) {
	for _, n := range []int{5, 100, 1000} {
		body := orderLines(n)
		scoped := newScoped(b)
		for _, handler := range []struct {
			name string
			http.Handler
		}{{"scoped", scoped}, {"plain", http.HandlerFunc(plain)}} {
			b.Run(fmt.Sprintf("orders=%d/%s", n, handler.name), func(b *testing.B) {
				c := newCall(body)
				c.do(handler.Handler)
				b.ReportAllocs()
				b.SetBytes(int64(len(body)))
				for b.Loop() {
					c.do(handler.Handler)
				}
			})
		}
	}
}

func Example() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "requests"})
	defer pool.Close()
	w := httptest.NewRecorder()
	scoped{pool}.ServeHTTP(w, httptest.NewRequest("POST", "/scoped", strings.NewReader("apple 3 120\npear 10 80\n")))
	fmt.Print(w.Body)
	// Output:
	// pear 800
	// apple 360
}
