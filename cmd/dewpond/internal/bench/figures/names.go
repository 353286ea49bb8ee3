package figures

import (
	"maps"
	"regexp"
	"slices"
	"strconv"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// Label returns the label of a figure: "put_p999_ns" is "Put P999".
func Label(name string) string {
	if m := micro.FindStringSubmatch(name); m != nil {
		return microLabel(m[1], m[2])
	}
	return figure.Label(name)
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
var pointed = []string{
	"second_burst_misses", "second_burst_ns", "rss_when_idle_bytes",
	"allocated_bytes", "cpu_time_ns", "later_misses", "second_size_hit_share", "second_size_misses", "second_size_gets",
	"refused_share", "served_per_sec",
	"double_put_found", "write_after_put_found", "read_after_put_found", "false_reports",
}

// Names returns the names of the figures that only this scenario has: its point first, then the
// others in alphabetical order.
func Names(d bench.Document) []string {
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
