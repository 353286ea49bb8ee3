package page

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/axis"
	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// overTime draws each series. index finds the number of a contender.
func overTime(d result.Document, index map[string]int) []chart {
	var out []chart
	for _, curve := range figure.Curves(d) {
		var lines []line
		for _, c := range d.Contenders {
			if len(c.Series[curve.Name]) < 2 {
				continue
			}
			l := line{Contender: index[c.Name], name: c.Name}
			for _, p := range c.Series[curve.Name] {
				l.points = append(l.points, [2]float64{p.Seconds, p.Value})
			}
			lines = append(lines, l)
		}
		if len(lines) == 0 {
			continue
		}
		c := chart{
			Title: curve.Title,
			Note:  "the median round of each contender",
			Data:  chartData{Kind: "series", Unit: figure.Unit(curve.Name)},
		}
		if s := curve.Silence(d); s != "" {
			c.Note += "; " + s
		}
		_, right, _, _ := bounds(lines)
		top, beyond := ceiling(lines)
		if len(beyond) > 0 {
			var names []string
			for _, l := range beyond {
				names = append(names, fmt.Sprintf("%s, which reaches %s", l.name, figure.Format(curve.Name, peak(l))))
			}
			c.Note += "; the axis is cut off below " + strings.Join(names, ", ")
		}
		c.draw(axis.Linear(0, right, 5, axis.Seconds), axis.Linear(0, 1.05*top, 4, axis.Of(curve.Name)), lines)
		out = append(out, c)
	}
	return out
}

// aside is how many times the next lower line a line must reach to be cut off, so that it does
// not flatten the others.
const aside = 4

// ceiling returns how high the lines go, without those that go far beyond all others.
func ceiling(lines []line) (top float64, beyond []line) {
	sorted := slices.SortedStableFunc(slices.Values(lines), func(a, b line) int {
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

func peak(l line) float64 {
	top := l.points[0][1]
	for _, p := range l.points {
		top = max(top, p[1])
	}
	return top
}
