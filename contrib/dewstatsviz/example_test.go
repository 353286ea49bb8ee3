package dewstatsviz_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewstatsviz"
)

// The page is at /debug/statsviz.
func Example() {
	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "example"})
	defer pool.Close()

	mux := http.NewServeMux() // or http.DefaultServeMux
	if err := dewstatsviz.Register(mux); err != nil {
		fmt.Println(err)
	}
	w := httptest.NewRecorder()
	mux.ServeHTTP(w, httptest.NewRequest("GET", "/debug/statsviz/", nil))
	fmt.Println(w.Code, w.Header().Get("Content-Type"))
	// Output: 200 text/html; charset=utf-8
}
