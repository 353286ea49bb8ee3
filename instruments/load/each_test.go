package load_test

import (
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/dewpond/dewpond/instruments/load"
	"github.com/dewpond/dewpond/instruments/load/report"
)

// TestEachProtocol has a target that is slow for HTTP/2 while there is HTTP/1.1 beside it.
func TestEachProtocol(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		last := make(chan time.Time, 1) // when HTTP/1.1 was last seen
		last <- time.Time{}
		o := inBubble(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			seen := <-last
			if r.ProtoMajor == 1 {
				seen = time.Now()
			}
			last <- seen
			if time.Since(seen) < 100*time.Millisecond && r.ProtoMajor == 2 {
				time.Sleep(50 * time.Millisecond)
				return
			}
			time.Sleep(5 * time.Millisecond)
		}))
		s := get(t, bubbleURL, load.Arrivals{Rate: 100, Duration: time.Second, Warmup: 200 * time.Millisecond, Seed: 1})
		s.Protocols = []load.Share{{Protocol: load.HTTP1, Weight: 1}, {Protocol: load.H2C, Weight: 1}}
		var began []string
		m, err := load.EachProtocol(t.Context(), s, o, func(name string) { began = append(began, name) })
		if err != nil {
			t.Fatal(err)
		}
		if len(m.Mixed) != 6 || len(began) != 18 || began[0] != "round 1 of 6: http/1.1" || began[5] != "round 2 of 6: http/1.1" {
			t.Errorf("%d rounds of the mixture: %v", len(m.Mixed), began)
		}
		if len(m.Costs) != 2 || m.Costs[0].Verdict != "cannot be told apart" || m.Costs[1].Verdict != "mixing costs" || m.Costs[1].Ratio.Median < 9 {
			t.Errorf("costs: %+v", m.Costs)
		}
		var out strings.Builder
		if err := report.WriteMixing(&out, m); err != nil || !strings.Contains(out.String(), "mixing costs") {
			t.Errorf("%v\n%s", err, out.String())
		}
		s.Protocols = s.Protocols[:1]
		if _, err := load.EachProtocol(t.Context(), s, o, nil); err == nil {
			t.Error("one protocol is a mixture")
		}
	})
}
