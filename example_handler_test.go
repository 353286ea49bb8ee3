//go:build !js

package dewpond_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/dewpond/dewpond"
)

// A handler that waits for memory instead of taking more, for as long as its client does; cuts the
// small pieces of a request from a Scope; and passes the body on to a goroutine that is done with it
// later, as another owner of a Lease.
func Example_handler() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "requests", Budget: dewpond.MustBudget("requests", 64<<20)})
	defer pool.Close()
	audits := make(chan dewpond.Lease, 100)

	handle := func(w http.ResponseWriter, r *http.Request) {
		if r.ContentLength < 0 || r.ContentLength > 1<<20 {
			http.Error(w, "send a Content-Length of at most 1 MiB", http.StatusLengthRequired)
			return
		}
		body, err := pool.LeaseContext(r.Context(), int(r.ContentLength)) // it waits, and never goes past the Budget
		if err != nil {
			http.Error(w, "busy", http.StatusServiceUnavailable)
			return
		}
		defer body.Release()
		if _, err := io.ReadFull(r.Body, body.Bytes()); err != nil {
			return
		}
		scope := pool.Scope() // all pieces end with the request
		defer scope.Close()
		for word := range bytes.FieldsSeq(body.Bytes()) {
			piece := scope.Copy(word)
			piece[0] = bytes.ToUpper(piece[:1])[0]
			fmt.Fprintf(w, "%s ", piece)
		}
		audits <- body.Retain() // the block goes back when both have released
	}

	server := httptest.NewServer(http.HandlerFunc(handle))
	defer server.Close()
	resp, err := http.Post(server.URL, "text/plain", strings.NewReader("every block comes back"))
	if err != nil {
		fmt.Println(err)
		return
	}
	text, _ := io.ReadAll(resp.Body)
	resp.Body.Close()
	audited := <-audits
	fmt.Printf("%s\naudited: %s\n", bytes.TrimSpace(text), audited.Bytes())
	audited.Release()
	// Output:
	// Every Block Comes Back
	// audited: every block comes back
}
