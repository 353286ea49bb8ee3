package swarm

import (
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// TestMetricsOfNoRun has a coordinator that finds the metrics, and no agent: it closes their connection. So
// does one that finds none.
func TestMetricsOfNoRun(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		for _, text := range []string{"go_goroutines 7", "nothing"} {
			closed := make(chan struct{})
			target := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				fmt.Fprintln(w, "# TYPE go_goroutines gauge\n"+text)
			}))
			target.Config.ConnState = func(_ net.Conn, state http.ConnState) {
				if state == http.StateClosed {
					close(closed)
				}
			}
			target.Start()
			if _, err := Run(t.Context(), planOf(target.URL, 50, time.Second), Options{Metrics: target.URL, Join: time.Nanosecond}.at(s, 2)); err == nil {
				t.Error("there was a run")
			}
			<-closed
			target.Close()
		}
	})
}

// TestPrivateAuthority has a target whose certificate nobody vouches for: who has it asks. The coordinator
// reads the target's metrics by it, too.
func TestPrivateAuthority(t *testing.T) {
	servers(t, func(t *testing.T, s meeting) {
		target := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
			if q.URL.Path == "/metrics" {
				fmt.Fprintln(w, "# TYPE go_goroutines gauge\ngo_goroutines 7")
			}
		}))
		t.Cleanup(target.Close)
		p := planOf(target.URL+"/x", 50, 2*time.Second)
		s.agents(t, 2, AgentOptions{})
		if _, err := Run(t.Context(), p, Options{}.at(s, 2)); err == nil || !strings.Contains(err.Error(), "x509") {
			t.Errorf("without the authority: %v", err)
		}
		if _, err := Run(t.Context(), p, Options{Metrics: target.URL + "/metrics"}.at(s, 2)); err == nil || !strings.Contains(err.Error(), "--metrics: ") {
			t.Errorf("without the authority metrics are: %v", err)
		}
		p.CA = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: target.Certificate().Raw}))
		r, err := Run(t.Context(), p, Options{Metrics: target.URL + "/metrics"}.at(s, 2))
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := due(t, p); r.Finished != uint64(n) {
			t.Errorf("%d of %d finished: %v", r.Finished, n, r.Messages)
		}
		if len(r.Metrics) != 1 || len(r.Metrics[0].Values) == 0 || r.Metrics[0].Values[0] != 7 {
			t.Errorf("the metrics are %+v, %v", r.Metrics, r.Target.Notes)
		}
		p.CA = "no certificate"
		if _, err := Run(t.Context(), p, Options{}.at(s, 2)); err == nil || !strings.Contains(err.Error(), "--ca: there is no certificate in PEM") {
			t.Errorf("an authority without a certificate: %v", err)
		}
	})
}
