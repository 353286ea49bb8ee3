package dewprom

import (
	"github.com/prometheus/client_golang/prometheus"

	"github.com/dewpond/dewpond/internal/metric"
)

// NewCollector returns a Collector of the statistics of every live pool, also of those that
// are made later. One is enough for a program: a registry refuses a second one.
func NewCollector() prometheus.Collector {
	c := collector{}
	for _, m := range metric.List() {
		valueType := prometheus.GaugeValue
		if m.Kind == metric.Counter {
			valueType = prometheus.CounterValue
		}
		c[m] = described{prometheus.NewDesc("dewpond_"+m.Name, m.Help, m.Labels, nil), valueType}
	}
	return c
}

// A collector knows how to say each metric. It never changes, so any number of scrapes may
// use it at once.
type collector map[*metric.Metric]described

type described struct {
	desc      *prometheus.Desc
	valueType prometheus.ValueType
}

// Describe implements [prometheus.Collector].
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c {
		to <- d.desc
	}
}

// Collect implements [prometheus.Collector].
func (c collector) Collect(to chan<- prometheus.Metric) {
	for s := range metric.Read() {
		d := c[s.Metric]
		to <- prometheus.MustNewConstMetric(d.desc, d.valueType, s.Value, s.Values()...)
	}
}
