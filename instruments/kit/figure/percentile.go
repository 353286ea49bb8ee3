package figure

// A Percentile is shown only if at least ten samples lie beyond it; Needs is how many samples
// that takes. With fewer, the value depends on a handful of events. Needs is given as a whole
// number because 1-0.9999 is not exact in binary.
type Percentile struct {
	Key   string
	Label string
	P     float64 // 0 to 100
	Needs int64
}

// Percentiles are the percentiles that reports show.
var Percentiles = []Percentile{
	{"p50", "P50", 50, 20},
	{"p99", "P99", 99, 1_000},
	{"p999", "P999", 99.9, 10_000},
	{"p9999", "P9999", 99.99, 100_000},
}
