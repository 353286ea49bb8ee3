package rig

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// An answer that is none is an error with its text, and is not decoded.
func TestAsk(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/there" {
			http.Error(w, `{"n": 7} has no room`, http.StatusServiceUnavailable)
			return
		}
		w.Write([]byte(`{"n": 7}`))
	}))
	defer s.Close()
	var got struct{ N int }
	if err := ask(t.Context(), http.MethodGet, s.URL+"/away", &got); err == nil || !strings.Contains(err.Error(), "503") || !strings.Contains(err.Error(), "no room") || got.N != 0 {
		t.Errorf("%v, %+v", err, got)
	}
	if err := ask(t.Context(), http.MethodGet, s.URL+"/there", &got); err != nil || got.N != 7 {
		t.Errorf("%v, %+v", err, got)
	}
}
