package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/pprof"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	_ "github.com/dewpond/dewpond/checks" // the profile of what is out of a pool, and misuse in the log
	"github.com/dewpond/dewpond/examples/matchmaker/internal/photo"
)

// adminHandler answers on the admin port; take answers with the process's account.
func (s *servers) adminHandler(registry *prometheus.Registry, b *backends, photos *photo.Registry, take http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	s.observed(mux, registry, b)
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("PUT /admin/photos/driver", setDriver(photos))
	mux.HandleFunc("PUT /admin/gc", setCollector)
	mux.HandleFunc("GET /admin/account", take)
	if b.substitutes.routes != nil {
		b.substitutes.routes(mux)
	}
	return mux
}

// observed has mux answer what others look at: metrics and health checks, in which there is nothing of a user's.
func (s *servers) observed(mux *http.ServeMux, registry *prometheus.Registry, b *backends) {
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if !s.ready.Load() {
			http.Error(w, "the service starts or stops", http.StatusServiceUnavailable)
			return
		}
		lacks, err := b.readiness(r.Context())
		if err != nil {
			http.Error(w, "the database does not answer: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
		if lacks != nil {
			fmt.Fprintf(w, "without what Redis has, and a profile's PUT: %v\n", lacks)
		}
	})
}

// How long /readyz waits: for the database, and for Redis, which must not make a probe late that waits a
// second.
const (
	databaseWithin = time.Second
	redisWithin    = 300 * time.Millisecond
)

// readiness returns an error where the service cannot serve, and what it lacks where it can. Nothing goes
// without the database. Without Redis all but a profile's PUT does, and all instances have one Redis: if
// they were not ready without it, nobody would serve.
func (b *backends) readiness(ctx context.Context) (lacks, err error) {
	var asking sync.WaitGroup
	asking.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, redisWithin)
		defer cancel()
		lacks = b.regions.Ping(ctx)
	})
	within, cancel := context.WithTimeout(ctx, databaseWithin)
	defer cancel()
	err = b.store.Ping(within)
	asking.Wait()
	return lacks, err
}
