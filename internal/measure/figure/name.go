package figure

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/result"
)

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
	return strings.ReplaceAll(strings.ReplaceAll(name, "_", " "), "rss", "RSS")
}

// micro matches "micro_128_1g_ns": the block size and the number of goroutines.
var micro = regexp.MustCompile(`^micro_(\d+)_(\w+)_ns$`)

func microLabel(size, how string) string {
	if n, err := strconv.Atoi(size); err == nil && n >= 1024 && n%1024 == 0 {
		size = strconv.Itoa(n/1024) + " KiB"
	} else {
		size += " B"
	}
	switch how {
	case "1g":
		return size + " by 1 goroutine"
	case "par":
		return size + " in parallel"
	}
	return size + " " + how
}

// pointed are the figures that are the point of their scenario; they come first in reports.
var pointed = []string{"second_burst_misses", "second_burst_ns", "rss_when_idle_bytes"}

// Names returns the names of the figures that only this scenario has: its point first, then the
// others in alphabetical order.
func Names(d result.Document) []string {
	set := map[string]bool{}
	for _, c := range d.Contenders {
		for name := range c.Figures {
			set[name] = true
		}
	}
	return Ordered(set)
}

// Ordered returns the names of a set in the order in which reports have them.
func Ordered[V any](set map[string]V) []string {
	names := slices.Sorted(maps.Keys(set))
	slices.SortStableFunc(names, func(a, b string) int { return rank(a) - rank(b) })
	return names
}

func rank(name string) int {
	if i := slices.Index(pointed, name); i >= 0 {
		return i
	}
	return len(pointed)
}

// IsTime reports whether a figure is a time.
func IsTime(name string) bool { return strings.HasSuffix(name, "_ns") }

// IsCost reports whether a figure is a cost.
func IsCost(name string) bool {
	return strings.HasSuffix(name, "_misses") || strings.HasSuffix(name, "_bytes") || strings.HasSuffix(name, "_per_op")
}

// HigherIsBetter reports whether a larger figure is better.
func HigherIsBetter(name string) bool { return strings.HasSuffix(name, "_per_sec") }

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
