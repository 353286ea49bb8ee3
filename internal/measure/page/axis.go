package page

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"

	"github.com/dewpond/dewpond/internal/measure/figure"
)

// An axis maps a figure to the chart and names its ticks.
type axis struct {
	log   bool
	ticks func(lo, hi float64) []plot.Tick
}

// distance is the axis of HdrHistogram's plots: 1/(1-p) on a log scale, so that each further
// nine takes the same width.
var distance = axis{log: true, ticks: func(lo, hi float64) []plot.Tick {
	ticks := []plot.Tick{{Value: 2, Label: "50 %"}}
	for x, digits := 10.0, 0; x <= hi/1.4; x, digits = x*10, digits+1 {
		p := strconv.FormatFloat(100-100/x, 'f', max(0, digits-1), 64)
		ticks = append(ticks, plot.Tick{Value: x, Label: p + " %"})
	}
	return ticks
}}

// logTime has a label at every power of ten, and at 2 and 5 if the range is too short for powers
// alone.
var logTime = axis{log: true, ticks: func(lo, hi float64) []plot.Tick {
	var ticks []plot.Tick
	short := hi/lo < 150
	for decade := math.Pow(10, math.Floor(math.Log10(lo))); decade <= hi; decade *= 10 {
		for k := 1.0; k < 10; k++ {
			v := k * decade
			if v < lo*0.999 || v > hi*1.001 {
				continue
			}
			t := plot.Tick{Value: v}
			if k == 1 || short && (k == 2 || k == 5) {
				t.Label = figure.Duration(v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}}

func linear(format func(float64) string) axis {
	return axis{ticks: func(lo, hi float64) []plot.Tick {
		ticks := plot.DefaultTicks{}.Ticks(lo, hi)
		for i := range ticks {
			if ticks[i].Label != "" {
				ticks[i].Label = format(ticks[i].Value)
			}
		}
		return ticks
	}}
}

func (a axis) Ticks(lo, hi float64) []plot.Tick { return a.ticks(lo, hi) }

func (a axis) apply(to *plot.Axis, lo, hi float64) {
	to.Min, to.Max = lo, hi
	to.Tick.Marker = a
	if a.log {
		to.Scale = plot.LogScale{}
	}
	to.Color, to.Tick.Color, to.Tick.Label.Color, to.Label.TextStyle.Color = ink, rule, ink, ink
	for _, f := range []*plotFont{&to.Tick.Label.Font, &to.Label.TextStyle.Font} {
		f.Variant = "Sans"
		f.Size = 10.5
	}
	to.LineStyle.Width = 0
	to.Padding = 4
}
