package main

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"google.golang.org/grpc"
	"google.golang.org/grpc/health"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/kit/amount"
	"github.com/dewpond/dewpond/instruments/kit/command"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/chat"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/degrade"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/intake"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/memory"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/photo"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/rpc"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/service"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/sessionlog"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/upstream"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/web"
)

// servers are what listens.
type servers struct {
	addresses Addresses
	ready     atomic.Bool
	leaving   atomic.Bool
	failed    chan error // the first server that ends by itself

	http, https, admin *http.Server
	metrics            *http.Server // nil without --metrics
	grpc               *grpc.Server
	health             *health.Server
	hub                *chat.Hub
	transport          *http.Transport
	serving            sync.WaitGroup
	closePools         func() error
	stopFollowing      func()
}

// newServers builds the service on its backends, with memory from source, and has it listen. What is
// not a request's is in blocks of bytes in any case: uploads, and frames of sockets.
func newServers(c *serveCommand, b *backends, source memory.Source, bytes *dewpond.BytePool, log *sessionlog.Log) (*servers, error) {
	stock, err := photo.Make()
	if err != nil {
		return nil, err
	}
	certificate, err := selfSigned()
	if err != nil {
		return nil, err
	}
	listeners, err := c.listen()
	if err != nil {
		return nil, err
	}
	uploads, err := c.uploads(b)
	if err != nil {
		closeAll(listeners)
		return nil, err
	}
	s := &servers{failed: make(chan error, 4), transport: c.transport()}
	processed := dewpond.MustPool(dewpond.PoolOptions[web.Processed]{Name: "web.Processed"})
	s.closePools = func() error {
		return errors.Join(uploads.Photos.Close(), uploads.Thumbnailers.Close(), uploads.Pool.Close(), processed.Close())
	}
	state := new(degrade.State)
	s.stopFollowing = func() {}
	if !c.Unhurried && c.Degrade != "off" {
		s.stopFollowing = state.Follow()
	}
	s.hub = &chat.Hub{Messages: b.store, Pool: bytes, Log: log, Within: c.within(2 * time.Second)}
	svc := &service.Service{
		Store: b.store, Cache: b.cache(), Memory: source, Degrade: state,
		Scorer: &upstream.Scorer{URL: b.scorerURL, Client: &http.Client{Transport: s.transport, Timeout: c.within(5 * time.Second)}, Memory: source},
	}
	registry := prometheus.NewRegistry()
	site := &web.Site{Service: svc, Bytes: bytes, Memory: source, Stock: stock, Hub: s.hub, Metrics: web.NewMetrics(registry), Uploads: uploads, Processed: processed, Log: log}
	registerMetrics(registry, b, svc, s.hub)

	s.grpc, s.health = rpc.New(svc, log)
	calls := intake.Pace{Grace: time.Minute, PerSecond: uploads.Pace.PerSecond} // a client may ask reflection one thing after the other
	handler := s.ending(withGRPC(calls.Handler(s.grpc), uploads.Pace.Handler(site.Handler())))
	s.http, s.https = server(handler), server(handler)
	s.https.TLSConfig = &tls.Config{Certificates: []tls.Certificate{certificate}}
	admin := s.adminHandler(registry, b, uploads.Photos, takeAccount(b, svc, site.Metrics))
	s.admin = &http.Server{Handler: forThisMachine(uploads.Pace.Handler(admin)), ReadHeaderTimeout: 10 * time.Second}
	s.addresses = Addresses{HTTP: listeners[0].Addr().String(), HTTPS: listeners[1].Addr().String(), GRPC: listeners[2].Addr().String(), Admin: listeners[3].Addr().String()}
	if len(listeners) > 4 {
		s.addresses.Metrics = listeners[4].Addr().String()
		mux := http.NewServeMux()
		s.observed(mux, registry, b)
		s.metrics = &http.Server{Handler: uploads.Pace.Handler(mux), ReadHeaderTimeout: 10 * time.Second}
		s.run(func() error { return s.metrics.Serve(listeners[4]) })
	}
	s.run(func() error { return s.http.Serve(listeners[0]) })
	s.run(func() error { return s.https.ServeTLS(listeners[1], "", "") })
	s.run(func() error { return s.grpc.Serve(listeners[2]) })
	s.run(func() error { return s.admin.Serve(listeners[3]) })
	return s, nil
}

// ending has connections close with their next answer when the service is about to stop. One that
// is kept could be closed just when a request comes.
func (s *servers) ending(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s.leaving.Load() {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

// server speaks HTTP/1.1 and HTTP/2, without TLS too.
func server(h http.Handler) *http.Server {
	s := &http.Server{
		Handler: intake.Resets(h), ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, ConnContext: intake.ConnContext,
		Protocols: new(http.Protocols),
		ErrorLog:  log.New(io.Discard, "", 0), // what clients do wrong is no fault of ours
	}
	s.Protocols.SetHTTP1(true)
	s.Protocols.SetHTTP2(true)
	s.Protocols.SetUnencryptedHTTP2(true)
	return s
}

// withGRPC answers gRPC too, for a client that knows one address: dewload asks for the types of
// messages where it sends them.
func withGRPC(g, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 && strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") {
			g.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// listen listens where the flags say: for HTTP, HTTPS, gRPC, on the admin port and, if it is given, on that of
// the metrics.
func (c *serveCommand) listen() ([]net.Listener, error) {
	listeners, err := listen(c.HTTP, c.HTTPS, c.GRPC, c.Admin)
	if err != nil || c.Metrics == "" {
		return listeners, err
	}
	l, err := net.Listen("tcp", c.Metrics)
	if err != nil {
		closeAll(listeners)
		return nil, command.UsageError{Err: fmt.Errorf("--metrics: %w; give another address, or port 0 for a free one", err)}
	}
	return append(listeners, l), nil
}

// listen listens on each address, the last of which must be a loopback's.
func listen(addresses ...string) (listeners []net.Listener, err error) {
	defer func() {
		if err != nil {
			closeAll(listeners)
		}
	}()
	for i, a := range addresses {
		l, err := net.Listen("tcp", a)
		if err != nil {
			return listeners, command.UsageError{Err: fmt.Errorf("%w; give another address, or port 0 for a free one", err)}
		}
		listeners = append(listeners, l)
		if at, ok := l.Addr().(*net.TCPAddr); i == len(addresses)-1 && (!ok || !at.IP.IsLoopback()) {
			return listeners, command.UsageError{Err: fmt.Errorf("--admin %s: it has no passwords, so it must be a loopback address, such as 127.0.0.1:8082", a)}
		}
	}
	return listeners, nil
}

func closeAll(listeners []net.Listener) {
	for _, l := range listeners {
		l.Close()
	}
}

// leastImages is the least memory of images: a photo of 4 million pixels must have room.
const leastImages = 32 << 20

// uploads makes what uploads need. The caller closes the drivers, the thumbnailers and the pool.
func (c *serveCommand) uploads(b *backends) (u web.Uploads, err error) {
	budget, err := amount.Parse(c.UploadBudget)
	if err != nil || budget < 2*web.MostPhoto {
		return u, command.UsageError{Err: fmt.Errorf("--upload-budget %s: give %d bytes or more, such as 64MiB: two uploads must have room", c.UploadBudget, 2*web.MostPhoto)}
	}
	images, err := amount.Parse(cmp.Or(c.ImageBudget, "256MiB"))
	if err != nil || images < leastImages {
		return u, command.UsageError{Err: fmt.Errorf("--image-budget %s: give %d bytes or more, such as 256MiB", c.ImageBudget, leastImages)}
	}
	if u.Pool, err = web.NewUploadPool(budget); err != nil {
		return u, err
	}
	if u.Connection, err = share("--upload-per-connection", c.UploadPerConnection, max(budget/8, web.LargestUpload)); err == nil {
		u.Address, err = share("--upload-per-address", c.UploadPerAddress, 0)
	}
	if err != nil {
		return u, errors.Join(err, u.Pool.Close())
	}
	disk, err := photo.NewDisk()
	if err != nil {
		return u, errors.Join(err, u.Pool.Close())
	}
	u.Wait, u.Thumbnailers, u.Pace = 2*time.Second, photo.NewThumbnailers(0, images), c.pace()
	u.Photos, err = photo.NewRegistry(map[string]photo.Driver{
		"memory": new(photo.Memory), "disk": disk, "postgres": photo.Database{Store: b.store},
	}, "memory")
	return u, err
}

// share reads how much of the budget one client may have; auto is what there is without a flag.
func share(name, text string, auto int64) (*intake.Share, error) {
	switch text {
	case "":
		return intake.NewShare(auto), nil
	case "off":
		return intake.NewShare(0), nil
	}
	n, err := amount.Parse(text)
	if err != nil || n < web.LargestUpload {
		return nil, command.UsageError{Err: fmt.Errorf("%s %s: give %d bytes or more, such as 16MiB, for one upload must have room; or off", name, text, web.LargestUpload)}
	}
	return intake.NewShare(n), nil
}

// pace is that of bodies.
func (c *serveCommand) pace() *intake.Pace {
	p := intake.Usual()
	p.Grace = cmp.Or(c.bodyGrace, c.within(p.Grace))
	return p
}

func (s *servers) run(serve func() error) {
	s.serving.Go(func() {
		if err := serve(); err != nil && !errors.Is(err, http.ErrServerClosed) && !errors.Is(err, grpc.ErrServerStopped) {
			s.failed <- err
		}
	})
}

// leave says that the service is about to stop, and gives those who ask for a time to hear it.
func (s *servers) leave(linger time.Duration) {
	s.ready.Store(false)
	s.leaving.Store(true)
	s.health.Shutdown()
	time.Sleep(linger)
}

// stop answers what is in flight, closes sockets with 1001, and then all else.
func (s *servers) stop(ctx context.Context) error {
	var stopping sync.WaitGroup
	for _, h := range []*http.Server{s.http, s.https} {
		stopping.Go(func() {
			if h.Shutdown(ctx) != nil {
				h.Close()
			}
		})
	}
	stopping.Go(s.hub.Close)
	stopping.Go(func() {
		over := context.AfterFunc(ctx, s.grpc.Stop)
		defer over()
		s.grpc.GracefulStop()
	})
	stopping.Wait()
	s.admin.Close()
	if s.metrics != nil {
		s.metrics.Close()
	}
	s.serving.Wait()
	s.stopFollowing()
	s.transport.CloseIdleConnections()
	return s.closePools()
}
