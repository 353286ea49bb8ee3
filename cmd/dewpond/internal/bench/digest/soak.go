package digest

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
)

// longEnough is how many seconds of resident memory are enough for a trend: two of the squeezes of
// the memory limit that scenario soak makes. In less time the way down or up after a squeeze would
// look like a trend.
const longEnough = 120

// soak judges a contender. What no round has measured is not judged. What only some rounds have
// measured, because others were cut short, is judged by those.
func (s *series) soak(c bench.Contender) *bench.Soak {
	v := &bench.Soak{Flat: map[string]bool{}}
	if t := Trend(secondHalf(c.Series["rss_bytes"])); t != nil && t.Seconds >= longEnough {
		v.RSS = t
	}
	for _, f := range figures.Flatness {
		for _, name := range f.Figures {
			if worst, ok := c.Figures[name]; ok {
				before, seen := v.Flat[f.Name]
				v.Flat[f.Name] = worst.Max <= 0 && (before || !seen)
			}
		}
	}
	return v
}
