package dewpond_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/dewpond/dewpond"
)

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

// The zero Buffer is on the pool that Default returns.
func ExampleBuffer() {
	var b dewpond.Buffer
	defer b.Release()
	fmt.Fprintf(&b, "%d blocks", 3)
	fmt.Println(b.String())
	// Output: 3 blocks
}
