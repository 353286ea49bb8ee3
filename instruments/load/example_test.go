package load_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
)

// A scenario against a service in the same test.
func Example() {
	target := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"token": "of %s"}`, r.URL.Query().Get("uid"))
	}))
	defer target.Close()

	result, err := load.Run(context.Background(), load.Scenario{
		Target:      target.URL,
		Arrivals:    load.Arrivals{Rate: 100, Duration: 200 * time.Millisecond},
		Connections: load.EachSession, // as browsers do
		Data:        []load.Data{load.Integers("uid", 1, 20000)},
		Session: []load.Step{
			{Name: "login", Do: load.Request{URL: "/login?uid=${uid}", Take: map[string]string{"token": "/token"}}},
			{Name: "read", Do: load.Request{URL: "/news", Header: http.Header{"Authorization": {"Bearer ${token}"}}}},
		},
	}, load.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Mode == load.Open)
	fmt.Println("offered", result.Offered, "finished", result.Finished, "failed", result.Failed)
	// Output:
	// true
	// offered 20 finished 20 failed 0
}

// A step that speaks what load does not: here to a pool of connections, of which a call has waited for one.
func ExampleActionFunc() {
	free := make(chan struct{}, 4)
	ask := func(ctx context.Context, c *load.Call) error {
		began := time.Now()
		select {
		case free <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err() // counts as load.Timeout
		}
		defer func() { <-free }()
		c.Waited(time.Since(began)) // which is no service
		if time.Since(c.Intended()) > time.Minute {
			return &load.KindError{Kind: load.Unexpected, Err: fmt.Errorf("session %d came too late", c.Number)}
		}
		uid, _ := c.Value("uid")
		c.Set("answer", fmt.Sprint(c.Protocol, uid, c.Rand().IntN(10)))
		return nil
	}
	result, err := load.Run(context.Background(), load.Scenario{
		Target:   "http://127.0.0.1:1", // which nothing here asks
		Arrivals: load.Arrivals{Rate: 100, Duration: 200 * time.Millisecond},
		Data:     []load.Data{load.Integers("uid", 1, 20000)},
		Session:  []load.Step{{Name: "ask", Do: load.ActionFunc(ask), Gives: []string{"answer"}}},
	}, load.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("calls", result.Steps[0].Requests, "of them came too late", result.Errors[load.Unexpected])
	// Output: calls 20 of them came too late 0
}

// Data that no function of this package draws.
func ExampleData() {
	words := load.Data{Name: "word", Draw: func(r *rand.Rand) any { return strings.Repeat("na", 1+r.IntN(3)) }}
	r := rand.New(rand.NewPCG(1, 1))
	for range 3 {
		fmt.Println(words.Name, words.Draw(r))
	}
	// Output:
	// word nanana
	// word na
	// word nanana
}

// In closed mode two users ask as fast as the target answers.
func ExampleArrivals() {
	target := httptest.NewServer(http.NotFoundHandler())
	defer target.Close()
	scenario, err := load.Get(target.URL)
	if err != nil {
		fmt.Println(err)
		return
	}
	scenario.Arrivals = load.Arrivals{Users: 2, Duration: 100 * time.Millisecond}
	result, err := load.Run(context.Background(), scenario, load.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(result.Mode == load.Closed, result.Errors[load.BadStatus] == result.Started)
	// Output: true true
}

// Plans are the same if their digests are: results of two machines may be compared.
func ExampleArrivals_Digest() {
	a := load.Arrivals{Rate: 2, Duration: 2 * time.Second, Seed: 1}
	for i, at := range a.Times() {
		fmt.Println(i, at)
	}
	b := a
	b.Process, b.Seed = load.Poisson, 2
	fmt.Println(a.Digest() == b.Digest())
	// Output:
	// 0 0s
	// 1 500ms
	// 2 1s
	// 3 1.5s
	// false
}

// A service may keep load apart from its users.
func ExampleMark() {
	service := func(w http.ResponseWriter, r *http.Request) {
		if run := r.Header.Get(load.Mark); run != "" {
			fmt.Fprintln(w, "a request of the run", run)
		}
	}
	r := httptest.NewRequest("GET", "/", nil)
	r.Header.Set(load.Mark, "5f0c")
	w := httptest.NewRecorder()
	service(w, r)
	fmt.Print(w.Body)
	// Output: a request of the run 5f0c
}

func ExampleKindOf() {
	fmt.Println(load.KindOf(context.DeadlineExceeded))
	fmt.Println(load.KindOf(fmt.Errorf("while it read: %w", &load.KindError{Kind: load.BadStatus, Err: fmt.Errorf("status 503")})))
	// Output:
	// timeout
	// status
}

// A result has the version of its form.
func ExampleReadJSON() {
	_, err := load.ReadJSON(strings.NewReader(fmt.Sprintf(`{"schema": %d}`, load.Schema+1)))
	fmt.Println(err)
	// Output: a result of schema 2: this dewload reads 1
}
