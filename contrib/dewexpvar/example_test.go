package dewexpvar_test

import (
	"encoding/json"
	"expvar"
	"fmt"
	"net/http/httptest"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewexpvar"
)

// Every pool of the program appears at /debug/vars.
func Example() {
	dewexpvar.Publish() // expvar itself serves /debug/vars with http.DefaultServeMux

	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "example"})
	defer pool.Close()
	b := pool.Get(500)
	pool.Put(b)

	w := httptest.NewRecorder()
	expvar.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/debug/vars", nil))
	var vars struct {
		Dewpond struct {
			Pools map[string]struct {
				Gets map[string]map[string]int `json:"gets_total"`
			}
		}
	}
	if err := json.Unmarshal(w.Body.Bytes(), &vars); err != nil {
		fmt.Println(err)
	}
	fmt.Println(vars.Dewpond.Pools["example"].Gets)
	// Output: map[512:map[hit:0 miss:1]]
}
