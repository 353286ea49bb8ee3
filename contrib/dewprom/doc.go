// Package dewprom exports the statistics of all of a program's pools to Prometheus.
//
//	prometheus.MustRegister(dewprom.NewCollector())
//
// With dewprom.NewShardCollector() beside it there is also what each processor has idle for itself.
//
// The [metrics document] lists the metrics; deploy/prometheus in the repository has recording
// rules and alerts for them, and deploy/grafana a dashboard.
//
// The numbers are read at each scrape, from [dewpond.Pools]. Nothing runs between scrapes, and
// nothing is added to Get or Put.
//
// [metrics document]: https://github.com/dewpond/dewpond/blob/main/docs/metrics.md
package dewprom
