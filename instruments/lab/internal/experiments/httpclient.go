package experiments

import (
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond/instruments/kit"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// httpClient counts the connections that clients of net/http open.
var httpClient = experiment.Experiment{
	ID:       "http-client",
	Question: "Does http.DefaultClient dial for each request, and what does a tuned Transport buy?",
	Claims: []experiment.Claim{{
		ID: "http-client/dials", Text: "DefaultClient opens a connection for each request", Publication: matching, Judge: judgeClientDials, Reach: experiment.Reach{Holds: experiment.Standing{experiment.At("default, 64 at once", "dials_share"): experiment.At("none kept, 64 at once", "dials_share")}, Fails: experiment.Standing{experiment.At("default, 64 at once", "dials_share"): experiment.At("tuned, 64 at once", "dials_share")}},
	}, {
		ID: "http-client/tuned", Text: "a Transport with MaxIdleConnsPerHost 200 makes requests faster", Publication: matching, Judge: judgeClientTuned, Reach: experiment.Reach{Timed: true, Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("tuned, 64 at once", "requests_per_sec"): experiment.At("none kept, 64 at once", "requests_per_sec")}},
	}},
	Cases: []string{"default, 64 at once", "tuned, 64 at once", "default, 2 at once", "none kept, 64 at once"},
	Each:  1200 * time.Millisecond,
	Run:   runHTTPClient,
	Plots: []experiment.Plot{
		{Figure: "dials_share", Title: "Connections opened for each request"},
		{Figure: "requests_per_sec", Title: "Requests a second", Note: "closed loop over loopback; more is better"},
	},
}

func runHTTPClient(r *experiment.Run) error {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "hello") }))
	defer server.Close()
	var dials atomic.Int64
	transport := http.DefaultTransport.(*http.Transport).Clone()
	dialer := new(net.Dialer)
	transport.DialContext = func(ctx context.Context, network, address string) (net.Conn, error) {
		dials.Add(1)
		return dialer.DialContext(ctx, network, address)
	}
	if r.Case == "tuned, 64 at once" {
		transport.MaxIdleConns, transport.MaxIdleConnsPerHost = 200, 200
	}
	transport.DisableKeepAlives = r.Case == "none kept, 64 at once"
	client := &http.Client{Transport: transport}
	users := 64
	if r.Case == "default, 2 at once" {
		users = 2
	}
	var requests, busy atomic.Int64
	var failed atomic.Pointer[error]
	began := kit.Now()
	end := began + max(r.Span(1200*time.Millisecond), 20*time.Millisecond)
	var wg sync.WaitGroup
	for range users {
		wg.Go(func() {
			for kit.Now() < end {
				start := kit.Now()
				answer, err := client.Get(server.URL)
				if err != nil {
					failed.Store(&err)
					return
				}
				_, err = io.Copy(io.Discard, answer.Body)
				answer.Body.Close()
				if err != nil {
					failed.Store(&err)
					return
				}
				busy.Add(int64(kit.Now() - start))
				requests.Add(1)
			}
		})
	}
	wg.Wait()
	if err := failed.Load(); err != nil {
		return *err
	}
	took := (kit.Now() - began).Seconds()
	n := float64(max(requests.Load(), 1))
	transport.CloseIdleConnections()
	r.Set("requests_per_sec", n/took)
	r.Set("mean_ns", float64(busy.Load())/n)
	r.Set("dials", float64(dials.Load()))
	r.Set("dials_share", float64(dials.Load())/n)
	// By Little's law.
	r.Set("in_flight", n/took*float64(busy.Load())/n/1e9)
	return nil
}

func judgeClientDials(m experiment.Measured) experiment.Finding {
	many, two := experiment.At("default, 64 at once", "dials_share"), experiment.At("default, 2 at once", "dials_share")
	if f, lacking := m.Lacking(many, two); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s of the requests dial with 64 at once", figure.Percent(m.Median(many.Case, many.Figure))),
		Control:  fmt.Sprintf("%s with 2 at once; tuned, %s with 64", figure.Percent(m.Median(two.Case, two.Figure)), figure.Percent(m.Median("tuned, 64 at once", many.Figure))),
		Do:       "Set MaxIdleConnsPerHost to how many requests to a host there are at once: the default keeps 2.",
	}
	switch share := m.Median(many.Case, many.Figure); {
	case share > 0.9:
		f.Verdict, f.Why = experiment.Reproduced, "nearly every request dials"
	case share > 0.05:
		f.Verdict, f.Why = experiment.DirectionOnly, "only those dial for which no idle connection is left: two are kept for each host"
	default:
		f.Verdict, f.Why = experiment.NotReproduced, "connections are used again"
	}
	return f
}

func judgeClientTuned(m experiment.Measured) experiment.Finding {
	plain, tuned := experiment.At("default, 64 at once", "requests_per_sec"), experiment.At("tuned, 64 at once", "requests_per_sec")
	if f, lacking := m.Lacking(plain, tuned); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s requests a second by default, %s tuned", m.Text(plain), m.Text(tuned)),
		Control:  fmt.Sprintf("%s and %s connections; by Little's law %s and %s were in flight", m.Text(experiment.At(plain.Case, "dials")), m.Text(experiment.At(tuned.Case, "dials")), m.Text(experiment.At(plain.Case, "in_flight")), m.Text(experiment.At(tuned.Case, "in_flight"))),
		Do:       "Tune the Transport of a client that has many requests to one host at once; with a few it changes nothing.",
	}
	f.Verdict, f.Why = experiment.Direction(m.Ratio(tuned, plain), true)
	return f
}
