package web

import (
	"net/http"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/intake"
)

// Metrics count requests and connections.
type Metrics struct {
	requests, connections *prometheus.CounterVec
	inFlight              prometheus.Gauge
	seconds               *prometheus.HistogramVec
	answered              atomic.Uint64
	reuse                 reuse
}

// Answered is how many requests were answered.
func (m *Metrics) Answered() uint64 { return m.answered.Load() }

// NewMetrics registers them.
func NewMetrics(to prometheus.Registerer) *Metrics {
	m := &Metrics{
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "matchmaker_requests_total", Help: "Requests that were answered.",
		}, []string{"protocol", "path", "code", "origin"}),
		connections: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "matchmaker_connections_total", Help: "Connections that carried a request, by its protocol.",
		}, []string{"protocol"}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "matchmaker_requests_in_flight", Help: "Requests that are being answered.",
		}),
	}
	m.seconds = prometheus.NewHistogramVec(prometheus.HistogramOpts{
		Name: "matchmaker_request_seconds", Help: "How long requests took; of WebSockets, how long they were open.",
		Buckets: []float64{0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5}, // 0.2 is what deploy/prometheus/slo.yaml wants of the P95
	}, []string{"path"})
	to.MustRegister(m.seconds, m.requests, m.connections, m.inFlight, &m.reuse)
	return m
}

// path counts the requests of a path.
func (m *Metrics) path(pattern string, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if conn := intake.ConnOf(r.Context()); conn != nil && conn.First() {
			m.connections.WithLabelValues(r.Proto).Inc()
			m.reuse.of(r.Proto).connections.Add(1)
		}
		origin := "user"
		if r.Header.Get("Dewpond-Run") != "" {
			origin = "load"
		}
		m.inFlight.Inc()
		began := time.Now()
		c := &coded{ResponseWriter: w, code: http.StatusOK}
		defer func() {
			m.inFlight.Dec()
			m.seconds.WithLabelValues(pattern).Observe(time.Since(began).Seconds())
			m.answered.Add(1)
			m.reuse.of(r.Proto).requests.Add(1)
			m.requests.WithLabelValues(r.Proto, pattern, strconv.Itoa(c.code), origin).Inc()
		}()
		next(c, r)
	})
}

// A coded knows the status.
type coded struct {
	http.ResponseWriter
	code int
}

func (c *coded) WriteHeader(code int) {
	c.code = code
	c.ResponseWriter.WriteHeader(code)
}

// Unwrap is for http.ResponseController, by which a WebSocket takes the connection over.
func (c *coded) Unwrap() http.ResponseWriter { return c.ResponseWriter }
