package dewjson_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewjson"
)

func Example() {
	bodies := dewjson.New(dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "json"}))
	handler := func(w http.ResponseWriter, r *http.Request) {
		var question struct{ Name string }
		if err := bodies.Unmarshal(http.MaxBytesReader(w, r.Body, 1<<20), &question); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer, err := bodies.Marshal(map[string]string{"hello": question.Name})
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer bodies.Put(answer)
		w.Write(answer.Bytes())
	}
	w := httptest.NewRecorder()
	handler(w, httptest.NewRequest(http.MethodPost, "/", strings.NewReader(`{"name":"dew"}`)))
	fmt.Println(w.Body)
	// Output:
	// {"hello":"dew"}
}
