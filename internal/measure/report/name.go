package report

import (
	"regexp"
	"strconv"
	"strings"
)

// label is a figure's name as a reader meets it: "put_p999_ns" is "Put P999".
func label(name string) string {
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
	for _, op := range operations {
		for _, p := range percentiles {
			if name == op.key+"_"+p.key+"_ns" {
				return op.label + " " + p.label
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

// isTime, isCost and higherIsBetter sort figures by what a reader asks of them:
// is it faster, and does it need less.
func isTime(name string) bool { return strings.HasSuffix(name, "_ns") }

func isCost(name string) bool {
	return strings.HasSuffix(name, "_misses") || strings.HasSuffix(name, "_bytes") || strings.HasSuffix(name, "_per_op")
}

func higherIsBetter(name string) bool { return strings.HasSuffix(name, "_per_sec") }
