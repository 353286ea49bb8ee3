package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	_ "github.com/dewpond/dewpond/checks" // the profile of what is out of a pool, and misuse in the log
	"github.com/dewpond/dewpond/examples/matchmaker/internal/photo"
)

// adminHandler answers on the admin port; take answers with the process's account.
func (s *servers) adminHandler(registry *prometheus.Registry, b *backends, photos *photo.Registry, take http.HandlerFunc) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(registry, promhttp.HandlerOpts{}))
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, r *http.Request) {
		if !s.ready.Load() {
			http.Error(w, "the service starts or stops", http.StatusServiceUnavailable)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), time.Second)
		defer cancel()
		if err := b.store.Ping(ctx); err != nil {
			http.Error(w, "the database does not answer: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("PUT /admin/photos/driver", setDriver(photos))
	mux.HandleFunc("PUT /admin/gc", setCollector)
	mux.HandleFunc("GET /admin/account", take)
	if b.substitutes.routes != nil {
		b.substitutes.routes(mux)
	}
	return mux
}
