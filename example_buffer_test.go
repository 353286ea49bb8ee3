package dewpond_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"

	"github.com/dewpond/dewpond"
)

// Append everything in place, and write it once.
func ExampleBuffer() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "rows"})
	defer pool.Close()

	row := func(w io.Writer, id int64, name string) error {
		b := pool.Buffer()
		defer b.Release()
		b.Grow(64 + len(name)) // if it is not enough, append takes other memory and Write copies it
		p := b.AvailableBuffer()
		p = append(p, `{"id":`...)
		p = strconv.AppendInt(p, id, 10)
		p = append(p, `,"name":`...)
		p = strconv.AppendQuote(p, name)
		p = append(p, "}\n"...)
		b.Write(p) // p is in its place: nothing is copied
		_, err := b.WriteTo(w)
		return err
	}

	row(os.Stdout, 7, "Ada")
	row(os.Stdout, 8, "Grace")
	// Output:
	// {"id":7,"name":"Ada"}
	// {"id":8,"name":"Grace"}
}

// The zero Buffer is on the pool that Default returns.
func ExampleBuffer_zero() {
	var b dewpond.Buffer
	defer b.Release()
	fmt.Fprintf(&b, "%d blocks", 3)
	fmt.Println(b.String())
	// Output: 3 blocks
}

// A Buffer that is handed to an io.Writer escapes, and is allocated. A Pool of Buffers saves
// that too: its Put releases the Buffer.
func ExampleBuffer_pool() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "replies"})
	defer pool.Close()
	buffers := dewpond.MustPool(dewpond.PoolOptions[dewpond.Buffer]{New: pool.Buffer, Reset: (*dewpond.Buffer).Release})
	defer buffers.Close()

	reply := func(w io.Writer, name string) error {
		b := buffers.Get()
		defer buffers.Put(b)
		fmt.Fprintf(b, "Hello, %s!\n", name)
		_, err := b.WriteTo(w)
		return err
	}

	reply(os.Stdout, "Ada")
	fmt.Println(pool.Stats().InUseBytes, "bytes in use")
	// Output:
	// Hello, Ada!
	// 0 bytes in use
}

// Encode a response into a pooled buffer, so that its length and a failure are known before
// the first byte is out.
func ExampleBytePool_Buffer() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "responses"})
	defer pool.Close()

	handler := func(w http.ResponseWriter, r *http.Request) {
		b := pool.Buffer()
		defer b.Release()
		if err := json.NewEncoder(b).Encode(map[string]any{"user": 7, "name": "Ada"}); err != nil {
			http.Error(w, "cannot encode", http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(b.Len()))
		b.WriteTo(w)
	}

	w := httptest.NewRecorder()
	handler(w, httptest.NewRequest("GET", "/user/7", nil))
	fmt.Print(w.Header().Get("Content-Length"), " ", w.Body)
	fmt.Println(pool.Stats().InUseBytes, "bytes in use")
	// Output:
	// 24 {"name":"Ada","user":7}
	// 0 bytes in use
}

// Collect an upload only while the Budget has room for it.
func ExampleBytePool_TryBuffer() {
	budget := dewpond.MustBudget("", 64<<10)
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "uploads", Budget: budget})
	defer pool.Close()

	upload := func(w http.ResponseWriter, r *http.Request) {
		b := pool.TryBuffer()
		defer b.Release()
		n, err := b.ReadFrom(r.Body)
		if errors.Is(err, dewpond.ErrExhausted) {
			http.Error(w, "no room for it now", http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "got", n, "bytes")
	}

	for _, size := range []int{10_000, 1_000_000} {
		w := httptest.NewRecorder()
		upload(w, httptest.NewRequest("POST", "/", io.LimitReader(zeros{}, int64(size))))
		fmt.Print(w.Code, " ", w.Body)
	}
	fmt.Println(budget.Used() <= budget.Limit())
	// Output:
	// 200 got 10000 bytes
	// 503 no room for it now
	// true
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
