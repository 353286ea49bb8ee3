package together_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	otelmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewexpvar"
	"github.com/dewpond/dewpond/contrib/dewotel"
	"github.com/dewpond/dewpond/contrib/dewprom"
	"github.com/dewpond/dewpond/internal/metric"
	"github.com/dewpond/dewpond/misuse"
)

// The three exporters give the same numbers, series by series.
func TestExportersAgree(t *testing.T) {
	budget := dewpond.MustBudget("shared", 1<<20)
	for i := range 3 {
		o := dewpond.BytePoolOptions{Name: fmt.Sprint("pool ", i), MaxIdlePerClass: 10, IdleTimeout: dewpond.NoDecay} // decay would make the age of idle blocks move
		if i > 0 {
			o.Budget = budget
			o.Check, o.OnViolation = dewpond.CheckAll, func(misuse.Violation) {} // which has histograms
		}
		p := dewpond.MustBytePool(o)
		defer p.Close()
		var out [][]byte
		for n := range 100 {
			out = append(out, p.Get(64<<(n%10)))
		}
		for _, b := range out[i:] {
			p.Put(b)
		}
		p.Put(make([]byte, 100))
		p.Get(4 << 20)
	}

	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(dewprom.NewCollector())
	reader := otelmetric.NewManualReader()
	registration, err := dewotel.Register(otelmetric.NewMeterProvider(otelmetric.WithReader(reader)))
	if err != nil {
		t.Fatal(err)
	}
	defer registration.Unregister()

	before := fromPrometheus(t, registry)
	others := map[string]map[string]float64{"expvar": fromExpvar(t), "OpenTelemetry": fromOpenTelemetry(t, reader)}
	after := fromPrometheus(t, registry)
	for exporter, got := range others {
		if len(got) != len(before) {
			t.Errorf("%s has %d series, Prometheus %d", exporter, len(got), len(before))
		}
		for key, want := range before {
			// What changes by itself, such as an age, is between the two scrapes.
			if v, ok := got[key]; !ok || v < min(want, after[key]) || v > max(want, after[key]) {
				t.Errorf("%s: %s is %v (there: %v), Prometheus says %v, then %v", exporter, key, v, ok, want, after[key])
			}
		}
	}
	if before["gets_total class=64 pool=pool 0 result=miss"] != 10 || before["sampled_asked_bytes le=64 pool=pool 1"] != 10 {
		t.Errorf("nothing was compared: %v", before)
	}
}

// key is a name as metric.Metric has it, and the labels in order.
func key(name string, labels []string) string {
	slices.Sort(labels)
	return strings.Join(append([]string{name}, labels...), " ")
}

func fromPrometheus(t *testing.T, r prometheus.Gatherer) map[string]float64 {
	families, err := r.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, f := range families {
		for _, m := range f.Metric {
			var labels []string
			for _, l := range m.Label {
				labels = append(labels, l.GetName()+"="+l.GetValue())
			}
			if h := m.Histogram; h != nil {
				bound := func(le string, n uint64) {
					all[key(strings.TrimPrefix(f.GetName(), "dewpond_"), append(slices.Clip(labels), "le="+le))] = float64(n)
				}
				for _, b := range h.Bucket {
					bound(metric.Bucket{UpTo: b.GetUpperBound()}.Label(), b.GetCumulativeCount())
				}
				bound(metric.Unbounded, h.GetSampleCount())
				continue
			}
			all[key(strings.TrimPrefix(f.GetName(), "dewpond_"), labels)] = m.Counter.GetValue() + m.Gauge.GetValue()
		}
	}
	return all
}

func fromExpvar(t *testing.T) map[string]float64 {
	var vars map[string]any
	if err := json.Unmarshal([]byte(dewexpvar.Var().String()), &vars); err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for _, m := range metric.List() {
		switch {
		case len(m.Labels) == 0:
			all[m.Name] = vars[m.Name].(float64)
		default:
			for first, of := range vars[m.Labels[0]+"s"].(map[string]any) {
				if at := of.(map[string]any)[m.Name]; at != nil {
					names := m.Labels[1:]
					if m.Kind == metric.Histogram {
						names = append(slices.Clip(names), "le")
					}
					leaves(at, names, []string{m.Labels[0] + "=" + first}, func(labels []string, v float64) { all[key(m.Name, labels)] = v })
				}
			}
		}
	}
	return all
}

// leaves finds the numbers in nested objects, of which each level is a label.
func leaves(at any, names, labels []string, found func(labels []string, v float64)) {
	if len(names) == 0 {
		found(labels, at.(float64))
		return
	}
	for value, below := range at.(map[string]any) {
		leaves(below, names[1:], append(slices.Clip(labels), names[0]+"="+value), found)
	}
}

func fromOpenTelemetry(t *testing.T, r otelmetric.Reader) map[string]float64 {
	var collected metricdata.ResourceMetrics
	if err := r.Collect(context.Background(), &collected); err != nil {
		t.Fatal(err)
	}
	names := map[string]string{}
	for _, m := range metric.List() {
		names["dewpond."+m.OTel] = m.Name
	}
	all := map[string]float64{}
	for _, m := range collected.ScopeMetrics[0].Metrics {
		switch data := m.Data.(type) {
		case metricdata.Sum[int64]:
			points(all, names[m.Name], data.DataPoints)
		case metricdata.Gauge[int64]:
			points(all, names[m.Name], data.DataPoints)
		case metricdata.Sum[float64]:
			points(all, names[m.Name], data.DataPoints)
		case metricdata.Gauge[float64]:
			points(all, names[m.Name], data.DataPoints)
		default:
			t.Errorf("%s is a %T", m.Name, data)
		}
	}
	return all
}

func points[N int64 | float64](all map[string]float64, name string, of []metricdata.DataPoint[N]) {
	for _, p := range of {
		var labels []string
		for _, a := range p.Attributes.ToSlice() {
			labels = append(labels, strings.TrimSuffix(string(a.Key), ".name")+"="+a.Value.AsString())
		}
		all[key(name, labels)] = float64(p.Value)
	}
}
