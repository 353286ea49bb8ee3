package webpage

import (
	"strconv"

	"github.com/dewpond/dewpond/instruments/kit/axis"
	"github.com/dewpond/dewpond/instruments/kit/page"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// A ratioAxis is a logarithmic axis of ratios.
type ratioAxis struct{ axis.Axis }

// newRatioAxis returns an axis that holds the intervals of the ratios that are not nil.
func newRatioAxis(ratios []*result.Ratio) ratioAxis {
	low, high := 0.5, 2.0
	for _, r := range ratios {
		if r == nil {
			continue
		}
		high = max(high, r.High)
		if r.Low > 0 {
			low = min(low, r.Low)
		}
	}
	return ratioAxis{axis.Log(low/1.2, 1.2*high, times)}
}

// at returns the place of a ratio, in percent. A ratio of 0 is at the left end.
func (x ratioAxis) at(v float64) float64 {
	if v <= 0 {
		return 0
	}
	return 100 * min(max(x.At(v), 0), 1)
}

// ticks returns the ticks that have a label.
func (x ratioAxis) ticks() []page.Tick {
	var out []page.Tick
	for _, t := range page.Ticks(x.Axis) {
		if t.Label != "" {
			out = append(out, t)
		}
	}
	return out
}

// times labels a ratio: "0.5x".
func times(v float64) string { return strconv.FormatFloat(v, 'f', -1, 32) + "x" }
