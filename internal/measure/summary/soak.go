package summary

import (
	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// soak judges a contender. What no round has measured is not judged. What only some rounds have
// measured, because others were cut short, is judged by those.
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
