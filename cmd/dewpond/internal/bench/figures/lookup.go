package figures

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// Of returns a contender's figure by its name, as ratios name it: "ops_per_sec", "put_p999_ns",
// "second_burst_ns". One that is in Figures, as all of the lab's are, comes before a field of its
// own.
func Of(c *bench.Contender, name string) (result.Figure, bool) {
	if f, ok := c.Figures[name]; ok {
		return f, true
	}
	switch name {
	case "ops_per_sec":
		return c.OpsPerSec, true
	case "gc_per_5s":
		return c.GCPer5s, true
	case "alloc_bytes_per_op":
		return c.AllocBytesPerOp, true
	case "allocs_per_op":
		return c.AllocsPerOp, true
	case "gc_cpu_share":
		return c.GCCPUShare, true
	case "rss_peak_bytes":
		return c.RSSPeakBytes, true
	case "recorder_bytes":
		return c.RecorderBytes, true
	}
	for _, op := range figure.Operations {
		t := Times(c, op)
		if t == nil {
			continue
		}
		for _, p := range figure.Percentiles {
			if name == op.Figure(p) {
				if f := *At(t, p); f != nil {
					return *f, true
				}
				return result.Figure{}, false
			}
		}
	}
	return result.Figure{}, false
}
