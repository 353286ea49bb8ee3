package load_test

import (
	"context"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
)

// TestLateStart has a run that is ready 2.5 s after its first session was due. The schedule does not
// move: what was due is made at once, and is that late, and the seconds are those of the schedule.
func TestLateStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inBubble(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		var began time.Duration
		o.Began = func(late time.Duration) { began = late }
		o.Await = func(context.Context) (time.Time, error) {
			start := time.Now()
			time.Sleep(2500 * time.Millisecond)
			return start, nil
		}
		var seconds []load.Second
		o.Interval = func(r load.Result) { seconds = append(seconds, r.Series...) }
		s := get(t, bubbleURL, load.Arrivals{Rate: 100, Duration: 4 * time.Second})
		r := run(t, s, o)
		if r.Offered != 400 || r.Finished != 400 || began != 2500*time.Millisecond || r.Seconds != 4 {
			t.Errorf("offered %d, finished %d in %v s, the first began %v late", r.Offered, r.Finished, r.Seconds, began)
		}
		if lag := time.Duration(r.Session.Lag.Max); lag < 2480*time.Millisecond || lag > 2530*time.Millisecond {
			t.Errorf("the longest lag is %v", lag)
		}
		if len(seconds) < 1 || seconds[0].At != 3 || seconds[0].Started < 299 || len(r.Series) != len(seconds) || r.Series[0].At != 3 {
			t.Errorf("the first seconds are %+v", seconds)
		}
	})
}

// TestStartAhead has a run that is ready before its first session is due.
func TestStartAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := inBubble(t, http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
		o.Await = func(context.Context) (time.Time, error) { return time.Now().Add(1700 * time.Millisecond), nil }
		s := get(t, bubbleURL, load.Arrivals{Rate: 100, Duration: 2500 * time.Millisecond})
		r := run(t, s, o)
		if r.Finished != 250 || r.Session.Lag.Max > 1e6 || len(r.Series) != 2 || r.Series[0].At != 1 || r.Series[0].Started < 99 || r.Series[1].At != 2 {
			t.Errorf("finished %d, lag %v ns, series %+v", r.Finished, r.Session.Lag.Max, r.Series)
		}
	})
}

// TestConnectsInParallel has a target that takes 50 ms to connect to.
func TestConnectsInParallel(t *testing.T) {
	for _, do := range []load.Action{load.Request{URL: "/"}, load.Procedure{Method: rpc[1:]}} {
		connectsInParallel(t, do, descriptors(t))
	}
}

func connectsInParallel(t *testing.T, do load.Action, descriptors string) {
	synctest.Test(t, func(t *testing.T) {
		o := inBubble(t, http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == rpc {
				w.Header().Set("Content-Type", "application/grpc")
				w.Header().Set("Trailer:Grpc-Status", "0")
				w.Write(make([]byte, 5)) // a message of no bytes
			}
		}))
		o.Descriptors = descriptors
		dial, began, took := o.Dial, time.Now(), time.Duration(0)
		o.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			time.Sleep(50 * time.Millisecond)
			return dial(ctx, network, address)
		}
		o.Await = func(context.Context) (time.Time, error) {
			took = time.Since(began)
			return time.Now(), nil
		}
		s := get(t, bubbleURL, load.Arrivals{Rate: 100, Duration: time.Second})
		s.Session[0].Do = do
		s.Connections, s.Limits.InFlight = 64, 6400
		r := run(t, s, o)
		if r.Finished != 100 || r.Protocols[0].Connections != 64 || took > 200*time.Millisecond {
			t.Errorf("%T: %d connections were open after %v: %v", do, r.Protocols[0].Connections, took, r.Messages)
		}
	})
}
