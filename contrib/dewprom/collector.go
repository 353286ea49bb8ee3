package dewprom

import (
	"iter"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dewpond/dewpond/internal/metric"
)

// NewCollector returns a Collector of the statistics of every live pool, also of those that
// are made later. One is enough for a program: a registry refuses a second one.
func NewCollector() prometheus.Collector { return newCollector(metric.List(), metric.Read()) }

// NewShardCollector returns a Collector of what each P, a processor of Go's scheduler, has idle for
// itself in each pool, to be registered beside that of [NewCollector]. It is one of its own because
// few need it, and it has two series for each pool and P.
func NewShardCollector() prometheus.Collector {
	return newCollector(metric.Shards(), metric.ReadShards())
}

func newCollector(list []*metric.Metric, read iter.Seq[*metric.Sample]) collector {
	c := collector{map[*metric.Metric]described{}, read}
	for _, m := range list {
		valueType := prometheus.GaugeValue
		if m.Kind == metric.Counter {
			valueType = prometheus.CounterValue
		}
		c.says[m] = described{prometheus.NewDesc("dewpond_"+m.Name, m.Help, m.Labels, nil), valueType}
	}
	return c
}

// A collector knows how to say each metric. It never changes, so any number of scrapes may
// use it at once.
type collector struct {
	says map[*metric.Metric]described
	read iter.Seq[*metric.Sample]
}

type described struct {
	desc      *prometheus.Desc
	valueType prometheus.ValueType
}

// Describe implements [prometheus.Collector].
func (c collector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range c.says {
		to <- d.desc
	}
}

// Collect implements [prometheus.Collector].
func (c collector) Collect(to chan<- prometheus.Metric) {
	for s := range c.read {
		d := c.says[s.Metric]
		if s.Kind == metric.Histogram {
			buckets := make(map[float64]uint64, len(s.Buckets))
			for _, b := range s.Buckets {
				buckets[b.UpTo] = b.Count
			}
			to <- prometheus.MustNewConstHistogram(d.desc, uint64(s.Value), s.Sum, buckets, s.Values()...)
			continue
		}
		to <- prometheus.MustNewConstMetric(d.desc, d.valueType, s.Value, s.Values()...)
	}
}
