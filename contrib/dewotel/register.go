package dewotel

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"reflect"
	"sync"

	"go.opentelemetry.io/otel/attribute"
	otelmetric "go.opentelemetry.io/otel/metric"

	"github.com/dewpond/dewpond/internal/metric"
)

// Scope is the name of the Meter.
const Scope = "github.com/dewpond/dewpond/contrib/dewotel"

// units has the units by the UCUM, as OpenTelemetry wants them. Others are counted things.
var units = map[string]string{"bytes": "By", "seconds": "s"}

// keys has the attributes that are not named as the labels.
var keys = map[string]string{"pool": "pool.name", "budget": "budget.name"}

// registered has what is registered, so that nothing is counted twice.
var registered sync.Map // of a registration's of

// What is registered, and with which provider, by the first of its metrics.
type registrant struct {
	provider otelmetric.MeterProvider
	first    *metric.Metric
}

// Register makes the instruments of a provider's Meter, which then observe every live pool
// at each collection, also those that are made later. Unregister of the Registration ends
// that. Until then a second Register with the provider, which would double each sum, is an
// error. The provider that [otel.SetMeterProvider] was given and that which
// [otel.GetMeterProvider] returns may be two values for one: use the same in a program.
//
// [otel.SetMeterProvider]: https://pkg.go.dev/go.opentelemetry.io/otel#SetMeterProvider
// [otel.GetMeterProvider]: https://pkg.go.dev/go.opentelemetry.io/otel#GetMeterProvider
func Register(provider otelmetric.MeterProvider) (otelmetric.Registration, error) {
	return registerOnce("Register", provider, metric.List(), metric.Read())
}

// RegisterShards is [Register] for what each P, a processor of Go's scheduler, has idle for itself in
// each pool, to be called beside it. It is one of its own because few need it, and it has two
// points for each pool and P.
func RegisterShards(provider otelmetric.MeterProvider) (otelmetric.Registration, error) {
	return registerOnce("RegisterShards", provider, metric.Shards(), metric.ReadShards())
}

func registerOnce(name string, provider otelmetric.MeterProvider, list []*metric.Metric, read iter.Seq[*metric.Sample]) (otelmetric.Registration, error) {
	r := &registration{of: registrant{provider, list[0]}}
	if reflect.TypeOf(provider).Comparable() { // those that are not have no identity
		if _, twice := registered.LoadOrStore(r.of, r); twice {
			return nil, fmt.Errorf("dewotel: %s with a provider that observes the pools already: call Unregister of its Registration before, or %[1]s once in the program", name)
		}
	}
	var err error
	if r.Registration, err = register(provider.Meter(Scope), list, read); err != nil {
		r.forget()
		return nil, err
	}
	return r, nil
}

// A registration allows another Register when it ends.
type registration struct {
	otelmetric.Registration
	of registrant
}

// Unregister implements [otelmetric.Registration].
func (r *registration) Unregister() error {
	err := r.Registration.Unregister()
	if err == nil {
		r.forget()
	}
	return err
}

func (r *registration) forget() {
	if reflect.TypeOf(r.of.provider).Comparable() {
		registered.CompareAndDelete(r.of, r)
	}
}

func register(meter otelmetric.Meter, list []*metric.Metric, read iter.Seq[*metric.Sample]) (otelmetric.Registration, error) {
	observe := map[*metric.Metric]observer{}
	var instruments []otelmetric.Observable
	var errs []error
	for _, m := range list {
		instrument, of, err := newObserver(meter, m)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		observe[m] = of
		instruments = append(instruments, instrument)
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return meter.RegisterCallback(func(_ context.Context, to otelmetric.Observer) error {
		for s := range read {
			if s.Kind != metric.Histogram {
				observe[s.Metric](to, s.Value, otelmetric.WithAttributeSet(attributes(s)))
				continue
			}
			for _, b := range s.Buckets {
				observe[s.Metric](to, float64(b.Count), otelmetric.WithAttributeSet(attributes(s, attribute.String("le", b.Label()))))
			}
			observe[s.Metric](to, s.Value, otelmetric.WithAttributeSet(attributes(s, attribute.String("le", metric.Unbounded))))
		}
		return nil
	}, instruments...)
}

// An observer observes one instrument.
type observer func(to otelmetric.Observer, v float64, o ...otelmetric.ObserveOption)

// newObserver makes the instrument of a metric: of seconds a float64, of anything else an
// int64. OpenTelemetry has no histogram that is observed: there it is a count for each bound.
func newObserver(meter otelmetric.Meter, m *metric.Metric) (otelmetric.Observable, observer, error) {
	name, help, unit := "dewpond."+m.OTel, otelmetric.WithDescription(m.Help), units[m.Unit]
	if unit == "" {
		unit = "{" + m.Unit + "}"
	}
	if m.Kind == metric.Histogram {
		unit = "{get}"
	}
	u := otelmetric.WithUnit(unit)
	if m.Unit == "seconds" && m.Kind != metric.Histogram {
		var i otelmetric.Float64Observable
		var err error
		if m.Kind == metric.Counter {
			i, err = meter.Float64ObservableCounter(name, help, u)
		} else {
			i, err = meter.Float64ObservableGauge(name, help, u)
		}
		return i, func(to otelmetric.Observer, v float64, o ...otelmetric.ObserveOption) { to.ObserveFloat64(i, v, o...) }, err
	}
	var i otelmetric.Int64Observable
	var err error
	switch m.Kind {
	case metric.Counter, metric.Histogram:
		i, err = meter.Int64ObservableCounter(name, help, u)
	case metric.Sum:
		i, err = meter.Int64ObservableUpDownCounter(name, help, u)
	default:
		i, err = meter.Int64ObservableGauge(name, help, u)
	}
	return i, func(to otelmetric.Observer, v float64, o ...otelmetric.ObserveOption) {
		to.ObserveInt64(i, int64(v), o...)
	}, err
}

func attributes(s *metric.Sample, all ...attribute.KeyValue) attribute.Set {
	for i, v := range s.Values() {
		key := s.Labels[i]
		if k := keys[key]; k != "" {
			key = k
		}
		all = append(all, attribute.String(key, v))
	}
	return attribute.NewSet(all...)
}
