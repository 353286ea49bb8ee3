package webpage

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/axis"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/page"
)

// overTime draws each series. index finds the number of a contender.
func overTime(d bench.Document, index map[string]int) []page.Chart {
	var out []page.Chart
	for _, curve := range figures.Curves(d) {
		var curves []page.Curve
		for _, c := range d.Contenders {
			if len(c.Series[curve.Name]) < 2 {
				continue
			}
			l := page.Curve{Number: index[c.Name], Name: c.Name, Kind: kindOf(c.Name)}
			for _, p := range c.Series[curve.Name] {
				l.Points = append(l.Points, [2]float64{p.Seconds, p.Value})
			}
			curves = append(curves, l)
		}
		if len(curves) == 0 {
			continue
		}
		c := page.Chart{
			Title: curve.Title, Note: "the median round of each contender",
			Over: page.Seconds, Unit: figure.Unit(curve.Name), Curves: curves,
		}
		if s := curve.Silence(d); s != "" {
			c.Note += "; " + s
		}
		_, right, _, _ := page.Bounds(curves)
		top, beyond := ceiling(curves)
		if len(beyond) > 0 {
			var names []string
			for _, l := range beyond {
				names = append(names, fmt.Sprintf("%s, which reaches %s", l.Name, figure.Format(curve.Name, peak(l))))
			}
			c.Note += "; the axis is cut off below " + strings.Join(names, ", ")
		}
		c.X, c.Y = axis.Linear(0, right, 5, axis.Seconds), axis.Linear(0, 1.05*top, 4, axis.Of(curve.Name))
		out = append(out, c)
	}
	return out
}

// aside is how many times the next lower curve a curve must reach to be cut off, so that it does
// not flatten the others.
const aside = 4

// ceiling returns how high the curves go, without those that go far beyond all others.
func ceiling(curves []page.Curve) (top float64, beyond []page.Curve) {
	sorted := slices.SortedStableFunc(slices.Values(curves), func(a, b page.Curve) int {
		switch {
		case peak(a) < peak(b):
			return -1
		case peak(a) > peak(b):
			return 1
		}
		return 0
	})
	for i := len(sorted) / 2; i+1 < len(sorted); i++ {
		if low := peak(sorted[i]); low > 0 && peak(sorted[i+1]) > aside*low {
			return 1.2 * low, sorted[i+1:]
		}
	}
	return max(peak(sorted[len(sorted)-1]), 1), nil
}

func peak(c page.Curve) float64 {
	top := c.Points[0][1]
	for _, p := range c.Points {
		top = max(top, p[1])
	}
	return top
}
