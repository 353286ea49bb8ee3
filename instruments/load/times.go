package load

import (
	"github.com/HdrHistogram/hdrhistogram-go"
)

// Times are how long something took, in nanoseconds. A percentile is nil unless ten samples lie
// beyond it: with fewer, it depends on a handful of events.
type Times struct {
	Mean    float64  `json:"mean_ns"`
	P50     *float64 `json:"p50_ns,omitempty"`
	P95     *float64 `json:"p95_ns,omitempty"`
	P99     *float64 `json:"p99_ns,omitempty"`
	P999    *float64 `json:"p999_ns,omitempty"`
	P9999   *float64 `json:"p9999_ns,omitempty"`
	Max     float64  `json:"max_ns"`
	Samples int64    `json:"samples"`
	// Histogram is all of it, in HdrHistogram's V2 encoding. Times of several files are merged
	// by it.
	Histogram []byte `json:"histogram,omitempty"`
}

// A percentile is one that reports show.
type percentile struct {
	key   string  // as a threshold and JSON spell it
	p     float64 // 0 to 100
	needs int64   // samples, so that ten lie beyond
	in    func(*Times) **float64
}

var percentiles = []percentile{
	{"p50", 50, 20, func(t *Times) **float64 { return &t.P50 }},
	{"p95", 95, 200, func(t *Times) **float64 { return &t.P95 }},
	{"p99", 99, 1_000, func(t *Times) **float64 { return &t.P99 }},
	{"p999", 99.9, 10_000, func(t *Times) **float64 { return &t.P999 }},
	{"p9999", 99.99, 100_000, func(t *Times) **float64 { return &t.P9999 }},
}

func timesOf(h *hdrhistogram.Histogram) *Times {
	t := &Times{Samples: h.TotalCount()}
	if t.Samples == 0 {
		return t
	}
	t.Mean, t.Max = h.Mean(), float64(h.Max())
	for _, p := range percentiles {
		if t.Samples >= p.needs {
			v := float64(h.ValueAtPercentile(p.p))
			*p.in(t) = &v
		}
	}
	// The histograms are of one shape, and an encoding of it cannot fail.
	t.Histogram, _ = h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	return t
}

// tail returns P99, or the longest where there are too few samples for it, in nanoseconds.
func (t *Times) tail() float64 {
	if t.P99 != nil {
		return *t.P99
	}
	return t.Max
}

// generatorShare is how much of a percentile lag may be before the percentile is the generator's.
const generatorShare = 0.1

// generatorMade names the percentiles of which lag is more than a tenth.
func generatorMade(response, lag *Times) []string {
	var made []string
	for _, p := range percentiles {
		r, l := *p.in(response), *p.in(lag)
		if r != nil && l != nil && *l > generatorShare**r {
			made = append(made, p.key+"_ns")
		}
	}
	return made
}
