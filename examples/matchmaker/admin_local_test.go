package main

import (
	"net/http"
	"testing"
)

// The admin port answers who is on this machine, and no page of another site that a browser has open.
func TestAdminIsForThisMachine(t *testing.T) {
	startsProcesses(t)
	r := begin(t)
	for _, tt := range []struct {
		host   string
		header map[string]string
		status int
	}{
		{"", nil, 200},
		{"localhost:8082", nil, 200},
		{"LOCALHOST", nil, 200},
		{"[::1]:8082", nil, 200},
		{"127.0.0.1", map[string]string{"Sec-Fetch-Site": "none"}, 200},
		{"127.0.0.1:1", map[string]string{"Sec-Fetch-Site": "same-origin", "Origin": "http://127.0.0.1:1"}, 200},
		{"evil.example", nil, 403},
		{"localhost.evil.example:8082", nil, 403},
		{"10.0.0.1", nil, 403},
		{"", map[string]string{"Sec-Fetch-Site": "cross-site"}, 403},
		{"", map[string]string{"Sec-Fetch-Site": "same-site"}, 403},
		{"", map[string]string{"Origin": "http://evil.example"}, 403},
		{"", map[string]string{"Origin": "null"}, 403},
	} {
		for method, path := range map[string]string{"GET": "/debug/pprof/cmdline", "PUT": "/admin/gc"} {
			q, err := http.NewRequestWithContext(t.Context(), method, "http://"+r.Admin+path, http.NoBody)
			if err != nil {
				t.Fatal(err)
			}
			q.Host = tt.host
			for name, value := range tt.header {
				q.Header.Set(name, value)
			}
			a, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Fatal(err)
			}
			a.Body.Close()
			want := tt.status
			if method == "PUT" && want == 200 {
				want = 400 // it has nothing to set
			}
			if a.StatusCode != want {
				t.Errorf("%s %s with Host %q and %v: %d, want %d", method, path, tt.host, tt.header, a.StatusCode, want)
			}
		}
	}
}
