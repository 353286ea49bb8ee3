package load_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"github.com/dewpond/dewpond/load"
)

// A session that asks the target, and then does something of its own.
func Example() {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"token": "of %s"}`, r.URL.Query().Get("uid"))
	}))
	defer target.Close()

	scenario := load.Scenario{
		Target:   target.URL,
		Arrivals: load.Arrivals{Rate: 100, Duration: 200 * time.Millisecond, Seed: 1},
		Data:     []load.Data{load.Integers("uid", 1, 20000)},
		Session: []load.Step{
			{Name: "login", Do: load.Request{URL: "/login?uid=${uid}", Take: map[string]string{"token": "/token"}}},
			{Name: "my own", Do: load.ActionFunc(func(ctx context.Context, c *load.Call) error {
				token, _ := c.Value("token")
				_, err := fmt.Fprintln(io.Discard, token)
				return err
			})},
		},
	}
	result, err := load.Run(context.Background(), scenario, load.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("offered", result.Offered, "finished", result.Finished, "calls of my own", result.Steps[1].Requests)
	// Output: offered 20 finished 20 calls of my own 20
}
