package web

import (
	"sync"
	"sync/atomic"

	"github.com/prometheus/client_golang/prometheus"
)

// A reuse has how many requests each connection carried, by protocol.
type reuse struct{ protocols sync.Map } // of *carried

type carried struct{ requests, connections atomic.Uint64 }

func (u *reuse) of(protocol string) *carried {
	if c, ok := u.protocols.Load(protocol); ok {
		return c.(*carried)
	}
	c, _ := u.protocols.LoadOrStore(protocol, new(carried))
	return c.(*carried)
}

var perConnection = prometheus.NewDesc("matchmaker_requests_per_connection", "Requests that were answered, divided by the connections that carried them.", []string{"protocol"}, nil)

// Describe implements [prometheus.Collector].
func (u *reuse) Describe(to chan<- *prometheus.Desc) { to <- perConnection }

// Collect implements [prometheus.Collector].
func (u *reuse) Collect(to chan<- prometheus.Metric) {
	u.protocols.Range(func(protocol, c any) bool {
		if connections := c.(*carried).connections.Load(); connections > 0 {
			requests := c.(*carried).requests.Load()
			to <- prometheus.MustNewConstMetric(perConnection, prometheus.GaugeValue, float64(requests)/float64(connections), protocol.(string))
		}
		return true
	})
}
