package dewotel_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/contrib/dewotel"
)

// Every pool of the program appears in what the SDK collects.
func Example() {
	reader := metric.NewManualReader() // in a program, a PeriodicReader with an exporter
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	registration, err := dewotel.Register(provider)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer registration.Unregister()

	pool := dewpond.MustBytePool(dewpond.BytePoolOptions{Name: "example"})
	defer pool.Close()
	b := pool.Get(500)
	pool.Put(b)

	var collected metricdata.ResourceMetrics
	if err := reader.Collect(context.Background(), &collected); err != nil {
		fmt.Println(err)
	}
	for _, m := range collected.ScopeMetrics[0].Metrics {
		if m.Name == "dewpond.puts" {
			point := m.Data.(metricdata.Sum[int64]).DataPoints[0]
			fmt.Println(m.Name, point.Attributes.Encoded(attribute.DefaultEncoder()), point.Value)
		}
	}
	// Output: dewpond.puts class=512,pool.name=example 1
}
