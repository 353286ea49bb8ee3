package load_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/dewpond/dewpond/instruments/internal/pipe"
	"github.com/dewpond/dewpond/instruments/load"
)

// inBubble serves the handler in a bubble and returns the options to reach it.
func inBubble(t *testing.T, h http.Handler, configure ...func(*http.Server)) load.Options {
	l := pipe.Listen()
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s := &http.Server{Handler: h, Protocols: &protocols}
	for _, c := range configure {
		c(s)
	}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	return load.Options{Dial: l.Dial}
}

// bubbleURL is a URL in a bubble, where there are no others.
const bubbleURL = "http://127.0.0.1:80/"

// get returns the scenario of a URL with these arrivals.
func get(t *testing.T, url string, a load.Arrivals) load.Scenario {
	t.Helper()
	s, err := load.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	s.Arrivals = a
	return s
}

func run(t *testing.T, s load.Scenario, o load.Options) load.Result {
	t.Helper()
	if s.Limits.Timeout == 0 {
		s.Limits.Timeout = time.Minute // a busy machine may take longer than the default
	}
	r, err := load.Run(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	if r.Offered != r.Started+r.Dropped || r.Started != r.Finished+r.Failed {
		t.Errorf("offered %d, started %d, dropped %d, finished %d, failed %d do not add up", r.Offered, r.Started, r.Dropped, r.Finished, r.Failed)
	}
	return r
}
