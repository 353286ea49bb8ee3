package load

import (
	"context"
	"crypto/x509"
	"io"
	"net"
	"time"
)

// Options are how a scenario is run, which is no part of it. The zero value is right for most.
type Options struct {
	// Insecure accepts any certificate.
	Insecure bool
	// RootCAs are whose certificates are accepted; nil is the system's.
	RootCAs *x509.CertPool
	// NoMark leaves out the header Dewpond-Run, by which the target's logs and metrics can tell
	// a load from users.
	NoMark bool
	// RunID is the value of that header; empty is a random one.
	RunID string
	// Descriptors is a file of compiled protobuf descriptors, as protoc's --descriptor_set_out
	// writes it with --include_imports. gRPC calls and WebSocket messages are then of its types,
	// and the target is not asked for them.
	Descriptors string
	// SecretHeader names headers whose values no report shows, beside Authorization,
	// Proxy-Authorization, Cookie, X-Api-Key and those whose names end as those of keys do.
	SecretHeader []string
	// Metrics is a URL of the target's metrics, in Prometheus's text format or expvar's. They are
	// read once a second.
	Metrics string
	// Pprof is the URL of the target's net/http/pprof handlers. An execution trace of the middle
	// of the run says what the target's collector has to do with the slowest requests.
	Pprof string
	// Capture is a directory in which that trace is left, and a processor profile of the same
	// time.
	Capture string
	// Part is which of the arrivals this run makes; the zero value makes all. Runs of one scenario
	// with the parts 0 of 3, 1 of 3 and 2 of 3 together make every arrival once.
	Part Slice
	// Await, if it is not nil, is called when all connections are open, and returns when the first
	// session is due. If that is past, the schedule does not move: what was due is begun at once,
	// and late, which is lag. By itself the first session is due when all is ready.
	Await func(context.Context) (start time.Time, err error)
	// Began, if it is not nil, is told how late the first session began.
	Began func(late time.Duration)
	// Interval, if it is not nil, gets what was measured in each second, and at the end what is
	// left. The run's Result is the sum of these. The series of each is its second, and what is left
	// has none.
	Interval func(Result)
	// Requests, if it is not nil, gets one line of JSON for each request (see instruments/load/README.md).
	Requests io.Writer
	// Progress, if it is not nil, is called once a second.
	Progress func(Progress)
	// Dial opens network connections; nil is a [net.Dialer]'s.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

// A Slice is the arrivals whose number leaves Index when divided by Of.
type Slice struct{ Index, Of int }

func (s Slice) has(i int) bool { return s.Of <= 1 || i%s.Of == s.Index }

// Progress is how far a run is.
type Progress struct {
	Elapsed  time.Duration // since the first arrival was due
	Warmup   bool          // the last second was of the warm-up, whose sessions count nowhere
	Rate     float64       // sessions begun in the last second
	InFlight int           // sessions now
	P99      time.Duration // response of the sessions that ended in the last second; 0 if fewer than 1000 have
	Worst    time.Duration // the longest of them
	Failed   uint64        // sessions so far
	Dropped  uint64        // sessions so far
}
