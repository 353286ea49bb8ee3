package summary

import (
	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// soak judges a contender. What no round has seen is not judged; what one has not
// seen, because it was cut short, is by the others.
func (s *series) soak(c result.Contender) *result.Soak {
	v := &result.Soak{RSS: Trend(secondHalf(c.Series["rss_bytes"])), Flat: map[string]bool{}}
	for _, f := range figure.Flatness {
		for _, name := range f.Figures {
			if worst, ok := c.Figures[name]; ok {
				before, seen := v.Flat[f.Name]
				v.Flat[f.Name] = worst.Max <= 0 && (before || !seen)
			}
		}
	}
	return v
}
