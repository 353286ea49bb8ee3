package dewprom_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewprom"
)

// constants is a Collector of metrics whose values do not change. It makes them at each
// scrape, as client_golang's own collectors do.
type constants []constant

type constant struct {
	desc   *prometheus.Desc
	of     prometheus.ValueType
	labels []string
	value  float64
}

func (c constants) Describe(to chan<- *prometheus.Desc) { prometheus.DescribeByCollect(c, to) }

func (c constants) Collect(to chan<- prometheus.Metric) {
	for _, m := range c {
		to <- prometheus.MustNewConstMetric(m.desc, m.of, m.value, m.labels...)
	}
}

// constantsOf returns constants with the names, labels and values of a scrape.
func constantsOf(b *testing.B, r prometheus.Gatherer) (c constants) {
	families, err := r.Gather()
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range families {
		var desc *prometheus.Desc
		for _, m := range f.Metric {
			var names, values []string
			for _, l := range m.Label {
				names, values = append(names, l.GetName()), append(values, l.GetValue())
			}
			if desc == nil {
				desc = prometheus.NewDesc(f.GetName(), f.GetHelp(), names, nil)
			}
			of, v := prometheus.GaugeValue, m.Gauge.GetValue()
			if m.Counter != nil {
				of, v = prometheus.CounterValue, m.Counter.GetValue()
			}
			c = append(c, constant{desc, of, values, v})
		}
	}
	return c
}

// BenchmarkScrape scrapes 100 pools, in turn with as many constant metrics, and with Stats of
// the pools alone.
func BenchmarkScrape(b *testing.B) {
	for i := range 100 {
		p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: fmt.Sprint("pool-", i)})
		defer p.Close()
		for size := 100; size < 2000; size *= 2 { // five classes have traffic
			p.Put(p.Get(size))
		}
	}
	ours := prometheus.NewRegistry()
	ours.MustRegister(dewprom.NewCollector())
	control := constantsOf(b, ours)
	theirs := prometheus.NewRegistry()
	theirs.MustRegister(control)

	var scrape, constant, stats time.Duration
	timed := func(sum *time.Duration, f func()) {
		began := time.Now()
		f()
		*sum += time.Since(began)
	}
	b.ReportAllocs()
	for b.Loop() {
		timed(&scrape, func() { ours.Gather() })
		timed(&constant, func() { theirs.Gather() })
		timed(&stats, func() {
			for p := range dewpond.Pools() {
				p.Stats()
			}
		})
	}
	b.ReportMetric(float64(len(control)), "metrics")
	b.ReportMetric(float64(scrape.Microseconds())/float64(b.N), "µs/scrape")
	b.ReportMetric(float64(stats.Microseconds())/float64(b.N), "µs/stats")
	b.ReportMetric(float64(scrape)/float64(constant), "x-constant")
	b.ReportMetric(float64(scrape-stats)/float64(constant), "x-constant-without-stats")
}
