package figure

import (
	"regexp"
	"strconv"
	"strings"
)

// Label is a figure's name as a reader meets it: "put_p999_ns" is "Put P999".
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
	}
	for _, op := range Operations {
		for _, p := range Percentiles {
			if name == op.Figure(p) {
				return op.Label + " " + p.Label
			}
		}
	}
	if m := micro.FindStringSubmatch(name); m != nil {
		return microLabel(m[1], m[2])
	}
	for _, unit := range []string{"_ns", "_bytes"} {
		name = strings.TrimSuffix(name, unit)
	}
	name = strings.ReplaceAll(name, "_", " ")
	return strings.ReplaceAll(name, "rss", "RSS")
}

// micro matches "micro_128_1g_ns": block size and how many goroutines.
var micro = regexp.MustCompile(`^micro_(\d+)_(\w+)_ns$`)

func microLabel(size, who string) string {
	if n, err := strconv.Atoi(size); err == nil && n >= 1024 && n%1024 == 0 {
		size = strconv.Itoa(n/1024) + " KiB"
	} else {
		size += " B"
	}
	switch who {
	case "1g":
		return size + ", 1 goroutine"
	case "par":
		return size + ", parallel"
	}
	return size + ", " + who
}

// IsTime says whether a figure tells how fast something is.
func IsTime(name string) bool { return strings.HasSuffix(name, "_ns") }

// IsCost says whether a figure tells what something needs.
func IsCost(name string) bool {
	return strings.HasSuffix(name, "_misses") || strings.HasSuffix(name, "_bytes") || strings.HasSuffix(name, "_per_op")
}

// HigherIsBetter says whether more of a figure is better.
func HigherIsBetter(name string) bool { return strings.HasSuffix(name, "_per_sec") }

// AllocationNoise is what a figure must reach to be the pool's own. Below it a
// round's few allocations by the runtime and the driver are spread over
// millions of operations, and a ratio of two such numbers means nothing.
var AllocationNoise = map[string]float64{
	"alloc_bytes_per_op": 0.5,
	"allocs_per_op":      0.005,
}

// Comparable says whether a figure's ratio to the baseline means anything. Counts
// of a few collections and shares near zero have none, the recorder is not the
// pool, and what the generator dropped says that the machine was full, not
// whose fault it was.
func Comparable(name string) bool {
	return name != "recorder_bytes" && (IsTime(name) || IsCost(name) || HigherIsBetter(name))
}
