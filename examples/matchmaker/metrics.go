package main

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/redis/go-redis/v9"

	"github.com/dewpond/dewpond/contrib/dewprom"

	"github.com/dewpond/dewpond/examples/matchmaker/internal/chat"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/degrade"
	"github.com/dewpond/dewpond/examples/matchmaker/internal/service"
	"github.com/dewpond/dewpond/examples/matchmaker/store"
)

// registerMetrics registers all metrics but those of requests.
func registerMetrics(to prometheus.Registerer, b *backends, s *service.Service, hub *chat.Hub) {
	counter := func(name, help string, value func() float64) {
		to.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{Name: "matchmaker_" + name, Help: help}, value))
	}
	gauge := func(name, help string, value func() float64) {
		to.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "matchmaker_" + name, Help: help}, value))
	}
	to.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		dewprom.NewCollector(), &poolStats{b})

	counter("scorer_requests_total", "Requests to the scorer.", func() float64 { return float64(s.Scorer.Requests.Load()) })
	counter("scorer_connections_total", "New connections to the scorer.", func() float64 { return float64(s.Scorer.Dials.Load()) })
	gauge("scorer_connections_per_request", "New connections to the scorer, divided by the requests to it.", func() float64 {
		if n := s.Scorer.Requests.Load(); n > 0 {
			return float64(s.Scorer.Dials.Load()) / float64(n)
		}
		return 0
	})
	counter("region_unknown_total", "Requests of a region that has no Redis, which the fallback served.", func() float64 { return float64(b.regions.Unknown()) })
	if b.near != nil {
		for from, value := range map[string]func() uint64{"process": func() uint64 { return b.near.Asked() - min(b.near.Loaded(), b.near.Asked()) }, "redis": b.near.Loaded} {
			to.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
				Name: "matchmaker_local_cache_gets_total", Help: "Gets of --local-cache, by who has answered: this process, or Redis.", ConstLabels: prometheus.Labels{"from": from},
			}, func() float64 { return float64(value()) }))
		}
	}
	counter("degraded_changes_total", "Changes of what is degraded.", func() float64 { return float64(s.Degrade.Changes()) })
	for _, feature := range []string{degrade.Score, degrade.Candidates, degrade.Uploads} {
		to.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "matchmaker_degraded", Help: "1 where a feature is off.", ConstLabels: prometheus.Labels{"feature": feature},
		}, func() float64 {
			if s.Degrade.Without(feature) {
				return 1
			}
			return 0
		}))
	}
	gauge("sockets", "WebSockets that are open.", func() float64 { return float64(hub.Counts().Sockets) })
	counter("messages_total", "Messages that were stored.", func() float64 { return float64(hub.Counts().Stored) })
	counter("messages_refused_total", "Frames that were answered with an error.", func() float64 { return float64(hub.Counts().Refused) })
}

// poolStats has the figures of the connection pools.
type poolStats struct{ b *backends }

var (
	storeConns    = prometheus.NewDesc("matchmaker_store_connections", "Connections to PostgreSQL.", []string{"state"}, nil)
	storeAcquired = prometheus.NewDesc("matchmaker_store_acquired_total", "Connections to PostgreSQL that were lent.", nil, nil)
	storeWaits    = prometheus.NewDesc("matchmaker_store_waits_total", "Loans of a connection that waited.", nil, nil)
	storeWaitTime = prometheus.NewDesc("matchmaker_store_wait_seconds_total", "How long they waited.", nil, nil)
	storeTimeouts = prometheus.NewDesc("matchmaker_store_timeouts_total", "Loans of a connection that were given up.", nil, nil)
	storeNew      = prometheus.NewDesc("matchmaker_store_new_connections_total", "Connections to PostgreSQL that were made.", nil, nil)
	storeClosed   = prometheus.NewDesc("matchmaker_store_closed_connections_total", "Connections to PostgreSQL that were closed.", []string{"reason"}, nil)
	redisConns    = prometheus.NewDesc("matchmaker_redis_connections", "Connections to a Redis.", []string{"region", "node", "state"}, nil)
	redisWaits    = prometheus.NewDesc("matchmaker_redis_waits_total", "Commands that waited for a connection.", []string{"region", "node"}, nil)
	redisWaitTime = prometheus.NewDesc("matchmaker_redis_wait_seconds_total", "How long they waited.", []string{"region", "node"}, nil)
	redisAcquired = prometheus.NewDesc("matchmaker_redis_acquired_total", "Connections to a Redis that were lent.", []string{"region", "node"}, nil)
	redisClosed   = prometheus.NewDesc("matchmaker_redis_closed_connections_total", "Connections to a Redis that were closed.", []string{"region", "node", "reason"}, nil)
	redisNew      = prometheus.NewDesc("matchmaker_redis_new_connections_total", "Connections to a Redis that were made.", []string{"region", "node"}, nil)
	redisTimeouts = prometheus.NewDesc("matchmaker_redis_timeouts_total", "Commands that got no connection in time.", []string{"region", "node"}, nil)
	redisDown     = prometheus.NewDesc("matchmaker_redis_down", "1 where a Redis is down: commands fail at once.", []string{"region", "node"}, nil)
	redisRefused  = prometheus.NewDesc("matchmaker_redis_refused_total", "Commands that failed at once, because the node was down.", []string{"region", "node"}, nil)
	redisReads    = prometheus.NewDesc("matchmaker_redis_reads_total", "Reads of a region, by who was asked: a replica, the primary because the replicas lack a write of the key, or the primary because no replica may be read.", []string{"region", "from"}, nil)
	redisLag      = prometheus.NewDesc("matchmaker_redis_replica_lag_bytes", "Writes that a replica lacked at the last probe. It is missing where nobody knows.", []string{"region", "node"}, nil)
	redisRead     = prometheus.NewDesc("matchmaker_redis_replica_read", "1 where reads go to a replica: it is there, and has caught up.", []string{"region", "node"}, nil)
	allDescribed  = []*prometheus.Desc{storeConns, storeAcquired, storeWaits, storeWaitTime, storeTimeouts, storeNew, storeClosed, redisConns, redisWaits, redisWaitTime, redisNew, redisTimeouts, redisDown, redisRefused, redisReads, redisLag, redisRead}
)

// Describe implements [prometheus.Collector].
func (p *poolStats) Describe(to chan<- *prometheus.Desc) {
	for _, d := range allDescribed {
		to <- d
	}
}

// Collect implements [prometheus.Collector].
func (p *poolStats) Collect(to chan<- prometheus.Metric) {
	gauge := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
	}
	counter := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	collectStore(p.b.store.PoolStats(), gauge, counter)
	p.collectDown(gauge, counter)
	p.collectReplicas(gauge, counter)
	p.b.regions.Pools(func(region, node string, s *redis.PoolStats) {
		gauge(redisConns, float64(s.IdleConns), region, node, "idle")
		gauge(redisConns, float64(s.TotalConns-s.IdleConns), region, node, "acquired")
		counter(redisWaits, float64(s.WaitCount), region, node)
		counter(redisWaitTime, float64(s.WaitDurationNs)/1e9, region, node)
		counter(redisNew, float64(s.Misses), region, node)
		counter(redisAcquired, float64(s.Hits)+float64(s.Misses), region, node)
		counter(redisClosed, float64(s.StaleConns), region, node, "stale")
		counter(redisTimeouts, float64(s.Timeouts), region, node)
	})
}

// collectDown has which nodes are down.
func (p *poolStats) collectDown(gauge, counter sample) {
	p.b.regions.Down(func(region, node string, down bool, refused, _ uint64) {
		v := 0.0
		if down {
			v = 1
		}
		gauge(redisDown, v, region, node)
		counter(redisRefused, float64(refused), region, node)
	})
}

// collectReplicas has who answers reads, and how far behind the replicas are.
func (p *poolStats) collectReplicas(gauge, counter sample) {
	p.b.regions.Reads(func(region string, replica, own, primary uint64) {
		counter(redisReads, float64(replica), region, "replica")
		counter(redisReads, float64(own), region, "primary for own")
		counter(redisReads, float64(primary), region, "primary")
	})
	p.b.regions.Replicas(func(region, node string, read bool, lag int64) {
		v := 0.0
		if read {
			v = 1
		}
		gauge(redisRead, v, region, node)
		if lag >= 0 {
			gauge(redisLag, float64(lag), region, node)
		}
	})
}

type sample func(d *prometheus.Desc, v float64, labels ...string)

func collectStore(s store.PoolStats, gauge, counter sample) {
	gauge(storeConns, float64(s.InUse), "acquired")
	gauge(storeConns, float64(s.Idle), "idle")
	gauge(storeConns, float64(s.Making), "constructing")
	counter(storeAcquired, float64(s.Acquired))
	counter(storeWaits, float64(s.Waited))
	counter(storeWaitTime, s.WaitTime.Seconds())
	counter(storeTimeouts, float64(s.TimedOut))
	counter(storeNew, float64(s.Made))
	counter(storeClosed, float64(s.ClosedIdle), "idle bound")
	counter(storeClosed, float64(s.ClosedAge), "age")
	counter(storeClosed, float64(s.ClosedIdleTime), "idle time")
}
