package figure

import (
	"testing"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// A figure is found in its field, and where a contender has all of them in Figures, there.
func TestOf(t *testing.T) {
	bench := result.Contender{RSSPeakBytes: result.Figure{Median: 5}, Figures: map[string]result.Figure{"second_burst_ns": {Median: 7}}}
	lab := result.Contender{Figures: map[string]result.Figure{"rss_peak_bytes": {Median: 9}}}
	for _, c := range []struct {
		of   result.Contender
		name string
		want float64
		ok   bool
	}{{bench, "rss_peak_bytes", 5, true}, {bench, "second_burst_ns", 7, true}, {bench, "third_burst_ns", 0, false}, {bench, "get_p99_ns", 0, false}, {lab, "rss_peak_bytes", 9, true}} {
		if f, ok := Of(&c.of, c.name); ok != c.ok || f.Median != c.want {
			t.Errorf("%s of %+v is %v, %v", c.name, c.of, f, ok)
		}
	}
}
