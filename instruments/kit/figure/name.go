package figure

import "strings"

// Label returns the label of a figure: "put_p999_ns" is "Put P999".
func Label(name string) string {
	switch name {
	case "ops_per_sec":
		return "ops/s"
	case "alloc_bytes_per_op":
		return "bytes/op"
	case "allocs_per_op":
		return "allocs/op"
	case "rss_peak_bytes":
		return "peak RSS"
	case "cpu_time_ns":
		return "CPU time"
	case "operation_cpu_ns":
		return "CPU time of an operation"
	case "refused_share":
		return "refused"
	case "served_per_sec":
		return "served/s"
	case "second_size_hit_share":
		return "second size hits"
	}
	for _, op := range Operations {
		for _, p := range Percentiles {
			if name == op.Figure(p) {
				return op.Label + " " + p.Label
			}
		}
	}
	for _, unit := range []string{"_ns", "_bytes"} {
		name = strings.TrimSuffix(name, unit)
	}
	return strings.ReplaceAll(strings.ReplaceAll(name, "_", " "), "rss", "RSS")
}

// IsTime reports whether a figure is a time.
func IsTime(name string) bool { return strings.HasSuffix(name, "_ns") }

// IsCost reports whether a figure is a cost.
func IsCost(name string) bool {
	return IsCount(name) && !HigherIsBetter(name) || strings.HasSuffix(name, "_bytes") || strings.HasSuffix(name, "_per_op")
}

// IsCount reports whether a figure counts events, or is their share, of which a pool may well have
// none. Where the baseline has none there is no ratio, and the difference is compared.
func IsCount(name string) bool {
	for _, end := range []string{"_misses", "refused_share", "_found", "false_reports"} {
		if strings.HasSuffix(name, end) {
			return true
		}
	}
	return false
}

// HigherIsBetter reports whether a larger figure is better.
func HigherIsBetter(name string) bool {
	return strings.HasSuffix(name, "_per_sec") || strings.HasSuffix(name, "_found") || strings.HasSuffix(name, "_hit_share")
}

// AllocationNoise is the least value of a figure that is the pool's own. Below it, a round's few
// allocations by the runtime and the driver are divided by millions of operations, and a ratio
// of two such numbers means nothing.
var AllocationNoise = map[string]float64{
	"alloc_bytes_per_op": 0.5,
	"allocs_per_op":      0.005,
}

// Comparable reports whether a figure's ratio to the baseline means anything. Counts of a few
// collections and shares near zero have no useful ratio, the recorder is not part of the pool,
// and dropped arrivals show that the machine was full, but not why.
func Comparable(name string) bool {
	return name != "recorder_bytes" && (IsTime(name) || IsCost(name) || HigherIsBetter(name))
}
