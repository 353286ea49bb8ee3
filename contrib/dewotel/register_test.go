package dewotel_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"

	"go.opentelemetry.io/otel/exporters/stdout/stdoutmetric"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewotel"
)

// Through the SDK's whole pipeline, to an exporter, and no more after Unregister.
func TestPipeline(t *testing.T) {
	var out bytes.Buffer
	exporter, err := stdoutmetric.New(stdoutmetric.WithWriter(&out))
	if err != nil {
		t.Fatal(err)
	}
	provider := metric.NewMeterProvider(metric.WithReader(metric.NewPeriodicReader(exporter)))
	registration, err := dewotel.Register(provider)
	if err != nil {
		t.Fatal(err)
	}
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "exported", Budget: dewpond.MustBudget("all", 1<<20)})
	defer p.Close()
	p.Put(p.Get(500))
	p.Get(500)
	if err := provider.ForceFlush(context.Background()); err != nil {
		t.Fatal(err)
	}
	type point struct {
		Attributes []struct {
			Key   string
			Value struct{ Value any }
		}
		Value any
	}
	var exported struct {
		ScopeMetrics []struct {
			Scope   struct{ Name string }
			Metrics []struct {
				Name, Unit string
				Data       struct {
					IsMonotonic bool
					DataPoints  []point
				}
			}
		}
	}
	first := out.String()
	if err := json.NewDecoder(&out).Decode(&exported); err != nil {
		t.Fatal(err)
	}
	got := map[string]any{}
	for _, m := range exported.ScopeMetrics[0].Metrics {
		for _, p := range m.Data.DataPoints {
			key := m.Name + " " + m.Unit
			if m.Data.IsMonotonic {
				key += " counter"
			}
			for _, a := range p.Attributes {
				key += " " + a.Key + "=" + a.Value.Value.(string)
			}
			got[key] = p.Value
		}
	}
	s := p.Stats() // which Get hits is the engine's affair
	for key, want := range map[string]float64{
		"dewpond.gets {get} counter class=512 pool.name=exported result=hit":  float64(s.Hits),
		"dewpond.gets {get} counter class=512 pool.name=exported result=miss": float64(s.Misses),
		"dewpond.memory By pool.name=exported state=used":                     512,
		"dewpond.memory By pool.name=exported state=idle":                     float64(s.IdleBytes),
		"dewpond.budget.limit By budget.name=all":                             1 << 20,
		"dewpond.wait.duration s counter pool.name=exported":                  0,
	} {
		if got[key] != want {
			t.Errorf("%s is %v, want %v", key, got[key], want)
		}
	}
	if exported.ScopeMetrics[0].Scope.Name != dewotel.Scope {
		t.Errorf("scope %q", exported.ScopeMetrics[0].Scope.Name)
	}
	if t.Failed() {
		t.Log(first)
	}

	if err := registration.Unregister(); err != nil {
		t.Fatal(err)
	}
	out.Reset()
	if err := provider.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(out.String(), "dewpond.gets") {
		t.Errorf("after Unregister: %s", out.String())
	}
}

// A second Register would double each sum, so it is refused until the first has ended.
func TestRegisterTwice(t *testing.T) {
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name(), Budget: dewpond.MustBudget(t.Name(), 1<<20)})
	defer p.Close()
	limit := func() (sum int64) {
		var all metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &all); err != nil {
			t.Fatal(err)
		}
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				if m.Name == "dewpond.budget.limit" {
					for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints {
						sum += point.Value
					}
				}
			}
		}
		return sum
	}
	for range 2 {
		registration, err := dewotel.Register(provider)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dewotel.Register(provider); err == nil {
			t.Error("a second Register is accepted")
		}
		if other, err := dewotel.Register(metric.NewMeterProvider()); err != nil {
			t.Errorf("another provider: %v", err)
		} else if err := other.Unregister(); err != nil {
			t.Error(err)
		}
		if got := limit(); got != 1<<20 {
			t.Errorf("the limits of a Budget of %d bytes are together %d", 1<<20, got)
		}
		if err := registration.Unregister(); err != nil {
			t.Fatal(err)
		}
	}
}

// What each P has is observed where RegisterShards is called, beside Register, and until Unregister.
func TestRegisterShards(t *testing.T) {
	reader := metric.NewManualReader()
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: t.Name()})
	defer p.Close()
	p.Put(p.Get(100))
	blocks := func() (points int, sum int64) {
		var all metricdata.ResourceMetrics
		if err := reader.Collect(t.Context(), &all); err != nil {
			t.Fatal(err)
		}
		for _, scope := range all.ScopeMetrics {
			for _, m := range scope.Metrics {
				if m.Name == "dewpond.shard.blocks" {
					for _, point := range m.Data.(metricdata.Sum[int64]).DataPoints {
						points++
						sum += point.Value
					}
				}
			}
		}
		return points, sum
	}
	rest, err := dewotel.Register(provider)
	if err != nil {
		t.Fatal(err)
	}
	defer rest.Unregister()
	if points, _ := blocks(); points != 0 {
		t.Errorf("%d points come unasked", points)
	}
	registration, err := dewotel.RegisterShards(provider)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := dewotel.RegisterShards(provider); err == nil || !strings.Contains(err.Error(), "RegisterShards once") {
		t.Errorf("a second RegisterShards: %v", err)
	}
	want := int64(0)
	shards := p.Stats().Shards
	for _, of := range shards {
		want += int64(of.Idle)
	}
	if points, sum := blocks(); points != len(shards) || points == 0 || sum != want {
		t.Errorf("%d points of %d blocks, want %d of %d", points, sum, len(shards), want)
	}
	if err := registration.Unregister(); err != nil {
		t.Fatal(err)
	}
	if points, _ := blocks(); points != 0 {
		t.Errorf("%d points after Unregister", points)
	}
}
