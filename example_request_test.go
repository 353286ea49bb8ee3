//go:build !js

package dewpond_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"

	"github.com/dewpond/dewpond"
)

// A body is the body of one attempt at a request. Close ends its share of a Lease.
type body struct {
	mu     sync.Mutex // a transport may close the body during a Read, and more than once
	closed bool
	from   *bytes.Reader
	share  dewpond.Lease
}

func (b *body) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.from.Read(p)
}

func (b *body) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil
	}
	b.closed = true
	b.from.Reset(nil)
	b.share.Release()
	return nil
}

// post sends what b holds, and leaves b empty. The transport may read a body for longer than
// Do takes, and a redirect or another connection needs the bytes again, so each body is an
// owner of the block. net/http knows the length of a bytes.Buffer, bytes.Reader and
// strings.Reader, and how to read them again; any other body has to be described.
func post(client *http.Client, url string, b *dewpond.Buffer) (*http.Response, error) {
	req, err := http.NewRequest("POST", url, nil)
	if err != nil {
		return nil, err
	}
	all := b.Lease()
	defer all.Release()
	req.ContentLength = int64(all.Len())
	req.GetBody = func() (io.ReadCloser, error) {
		share := all.Retain()
		return &body{from: bytes.NewReader(share.Bytes()), share: share}, nil
	}
	req.Body, _ = req.GetBody()
	return client.Do(req)
}

// Send a Buffer as the body of a request, with its length, and again after a redirect.
func ExampleBuffer_request() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/old" {
			http.Redirect(w, r, "/new", http.StatusTemporaryRedirect)
			return
		}
		text, _ := io.ReadAll(r.Body)
		fmt.Fprintf(w, "%s: %d bytes: %s", r.URL.Path, r.ContentLength, text)
	}))
	defer server.Close()
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "requests"})
	defer pool.Close()

	b := pool.Buffer()
	defer b.Release()
	b.WriteString("hello")
	resp, err := post(server.Client(), server.URL+"/old", b)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	reply, _ := io.ReadAll(resp.Body)
	fmt.Printf("%s\n", reply)
	// Output: /new: 5 bytes: hello
}
