package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/dewpond/dewpond/examples/matchmaker/account"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/photo"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/service"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/web"
)

// setDriver has the next uploads go to another driver.
func setDriver(photos *photo.Registry) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Driver string `json:"driver"`
		}
		if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&q); err != nil {
			refuse(w, fmt.Errorf(`send {"driver":"disk"}: %w`, err))
			return
		}
		if err := photos.Switch(q.Driver); err != nil {
			refuse(w, err)
			return
		}
		answer(w, http.StatusOK, map[string]string{"driver": photos.Current()})
	}
}

// setCollector sets the collector while the service runs.
func setCollector(w http.ResponseWriter, r *http.Request) {
	var q struct {
		GOGC  *int    `json:"gogc"`
		Limit *string `json:"memory_limit"`
	}
	err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 1<<10)).Decode(&q)
	limit := int64(-1)
	if err == nil && q.Limit != nil {
		limit, err = parseLimit(*q.Limit)
	}
	if err == nil && q.GOGC != nil && *q.GOGC < -1 {
		err = fmt.Errorf("gogc is %d: give a percentage, or -1 for none", *q.GOGC)
	}
	if err != nil {
		refuse(w, fmt.Errorf(`send {"gogc":150,"memory_limit":"1GiB"}, or one of them: %w`, err))
		return
	}
	if q.GOGC != nil {
		debug.SetGCPercent(*q.GOGC)
	}
	debug.SetMemoryLimit(limit) // a negative one leaves it as it is
	answer(w, http.StatusOK, collector())
}

// takeAccount answers with what the process has done so far, for the rig.
func takeAccount(b *backends, svc *service.Service, m *web.Metrics) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		s := account.Take()
		s.Requests, s.Store = m.Answered(), b.store.PoolStats()
		s.ScorerRequests, s.NewConns = svc.Scorer.Requests.Load(), svc.Scorer.Dials.Load()
		answer(w, http.StatusOK, s)
	}
}

func refuse(w http.ResponseWriter, err error) {
	answer(w, http.StatusBadRequest, map[string]string{"error": err.Error()})
}

func answer(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	json.NewEncoder(w).Encode(v)
}
