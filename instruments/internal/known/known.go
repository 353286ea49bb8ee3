// Package known is a target whose answers are known: the scales are weighed on it.
package known

import (
	"context"
	"expvar"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/pprof"
	"strings"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"
	"google.golang.org/grpc/health/grpc_health_v1"
	"google.golang.org/grpc/reflection"
)

// What the target does at its paths.
const (
	Fixed      = "/fixed" // answers after FixedTime
	Stall      = "/stall" // answers at once, but not in the first StallTime of every StallEvery
	Queue      = "/queue" // QueueSlots, exponential service times of QueueMean
	QueueTook  = "/queue/took"
	Nothing    = "/nothing"                    // answers at once
	Garbage    = "/garbage"                    // makes garbage beside a live heap, for GarbageTime
	Ready      = "/garbage/ready"              // makes that heap, and answers with the nanoseconds that a request then takes
	Sleeper    = "/sleeper"                    // sleeps in some requests
	Cost       = "/cost"                       // the target's processor time, in nanoseconds
	Echo       = "/echo"                       // a WebSocket that sends back what it gets
	Call       = "grpc.health.v1.Health/Check" // of the service StallService it stalls as Stall does
	FixedTime  = 5 * time.Millisecond
	StallTime  = 200 * time.Millisecond
	StallEvery = 2 * time.Second
	QueueSlots = 4
	QueueMean  = 10 * time.Millisecond

	StallService = "stall"
)

// Serve serves on a port of loopback: it writes its URL to out, in JSON, and ends when in does.
func Serve(in io.Reader, out io.Writer) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	protocols.SetUnencryptedHTTP2(true)
	s := &http.Server{Handler: Handler(), Protocols: &protocols}
	go func() {
		io.Copy(io.Discard, in)
		s.Close()
	}()
	fmt.Fprintf(out, "%q\n", "http://"+l.Addr().String())
	if err := s.Serve(l); err != http.ErrServerClosed {
		return err
	}
	return nil
}

// Handler returns the target itself.
func Handler() http.Handler {
	calls := grpc.NewServer()
	stalls := stall()
	grpc_health_v1.RegisterHealthServer(calls, &stalling{health.NewServer(), stalls})
	reflection.Register(calls)
	mux := http.NewServeMux()
	mux.HandleFunc(Nothing, func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc(Fixed, func(http.ResponseWriter, *http.Request) { time.Sleep(FixedTime) })
	mux.HandleFunc(Stall, func(http.ResponseWriter, *http.Request) { stalls() })
	q := newQueue()
	mux.HandleFunc(Queue, q.serve)
	mux.HandleFunc(QueueTook, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, q.mean().Nanoseconds()) })
	mux.HandleFunc(Echo, echo)
	var m maker
	mux.HandleFunc(Ready, m.ready)
	mux.HandleFunc(Garbage, m.serve)
	mux.HandleFunc(Sleeper, sleeper)
	mux.HandleFunc(Cost, cost)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.Handle("/debug/vars", expvar.Handler())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			calls.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// stall returns a function that returns at once, but not in the first StallTime of every StallEvery.
func stall() func() {
	start := time.Now()
	return func() {
		if at := time.Since(start) % StallEvery; at < StallTime {
			time.Sleep(StallTime - at)
		}
	}
}

// stalling is gRPC's health service with one that stalls.
type stalling struct {
	*health.Server
	stall func()
}

func (s *stalling) Check(ctx context.Context, q *grpc_health_v1.HealthCheckRequest) (*grpc_health_v1.HealthCheckResponse, error) {
	if q.GetService() == StallService {
		s.stall()
		return &grpc_health_v1.HealthCheckResponse{Status: grpc_health_v1.HealthCheckResponse_SERVING}, nil
	}
	return s.Server.Check(ctx, q)
}

// A queue is M/M/4, as far as sleeping is exact: it measures how long it really sleeps.
type queue struct {
	free       chan struct{}
	took, done atomic.Int64
}

func newQueue() *queue {
	q := &queue{free: make(chan struct{}, QueueSlots)}
	for range QueueSlots {
		q.free <- struct{}{}
	}
	return q
}

func (q *queue) serve(http.ResponseWriter, *http.Request) {
	<-q.free
	began := time.Now()
	time.Sleep(time.Duration(rand.ExpFloat64() * float64(QueueMean)))
	q.took.Add(int64(time.Since(began)))
	q.done.Add(1)
	q.free <- struct{}{}
}

func (q *queue) mean() time.Duration { return time.Duration(q.took.Load() / max(1, q.done.Load())) }

func echo(w http.ResponseWriter, r *http.Request) {
	c, err := websocket.Accept(w, r, nil)
	if err != nil {
		return
	}
	defer c.CloseNow()
	for {
		kind, message, err := c.Read(r.Context())
		if err != nil || c.Write(r.Context(), kind, message) != nil {
			return
		}
	}
}
