package figures

import (
	"testing"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// A figure is found in its field, and where a contender has all of them in Figures, there.
func TestOf(t *testing.T) {
	measured := bench.Contender{RSSPeakBytes: result.Figure{Median: 5}, Figures: map[string]result.Figure{"second_burst_ns": {Median: 7}}}
	lab := bench.Contender{Figures: map[string]result.Figure{"rss_peak_bytes": {Median: 9}}}
	for _, c := range []struct {
		of   bench.Contender
		name string
		want float64
		ok   bool
	}{{measured, "rss_peak_bytes", 5, true}, {measured, "second_burst_ns", 7, true}, {measured, "third_burst_ns", 0, false}, {measured, "get_p99_ns", 0, false}, {lab, "rss_peak_bytes", 9, true}} {
		if f, ok := Of(&c.of, c.name); ok != c.ok || f.Median != c.want {
			t.Errorf("%s of %+v is %v, %v", c.name, c.of, f, ok)
		}
	}
}
