package metric

import "strconv"

// A Kind says how the values of a metric may be used.
type Kind uint8

const (
	Counter   Kind = iota // counts events or bytes since the pool was made; never falls
	Sum                   // an amount now; those of several pools can be added
	Level                 // a value now that it makes no sense to add
	Histogram             // counts values by their size; never falls
)

// A Metric is one thing that exporters export.
type Metric struct {
	// Name is the name by Prometheus's rules, without the prefix "dewpond_".
	Name string
	// OTel is the name by OpenTelemetry's conventions, without the prefix "dewpond.". Metrics
	// with different labels and units have different names.
	OTel string
	// Unit is "bytes", "seconds", or what is counted, in the singular.
	Unit string
	Help string
	Kind
	// Labels are the names of the labels. Of the labels "pool" and "budget" one comes first,
	// except in the metrics of the whole process.
	Labels []string
}

// A Sample is the value of a metric for one combination of labels.
type Sample struct {
	*Metric
	Value float64   // of a Histogram how many values there are
	Of    [3]string // the values of Labels

	// Of a Histogram alone. Both may be used until the Sample changes.
	Sum     float64
	Buckets []Bucket // by ascending bounds; the first and the last ones in which there is nothing are left out
}

// A Bucket says how many values there are up to a bound.
type Bucket struct {
	UpTo  float64
	Count uint64
}

// Label returns the bound as Prometheus writes it.
func (b Bucket) Label() string { return strconv.FormatFloat(b.UpTo, 'g', -1, 64) }

// Unbounded is the label of all values.
const Unbounded = "+Inf"

// Values returns the values of Labels. They may be used until the Sample changes.
func (s *Sample) Values() []string { return s.Of[:len(s.Labels)] }
