package page

import (
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/internal/measure/axis"
	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// latencies draws the times of each operation by percentile. index finds the number of a contender.
func latencies(d result.Document, index map[string]int) ([]chart, error) {
	var out []chart
	for _, op := range slices.Concat(figure.InReadingOrder(d.Scenario)...) {
		var lines []line
		for i := range d.Contenders {
			t := op.Times(&d.Contenders[i])
			if t == nil {
				continue
			}
			points, err := distribution(t.Histogram)
			if err != nil {
				return nil, err
			}
			if name := d.Contenders[i].Name; len(points) > 1 {
				lines = append(lines, line{Contender: index[name], name: name, points: points})
			}
		}
		if len(lines) == 0 {
			continue
		}
		c := chart{
			Title: op.Label + " latency by percentile",
			Note:  op.What + ", all rounds merged; logarithmic axes; a line ends where fewer than 10 samples lie beyond",
			Data:  chartData{Kind: "percentile", Unit: "ns"},
		}
		left, right, low, high := bounds(lines)
		c.draw(axis.Tail(left, right), axis.Log(0.85*low, 1.15*high, axis.Of("_ns")), lines)
		out = append(out, c)
	}
	return out, nil
}

// distribution returns the percentile distribution as far as ten samples lie beyond. It begins at
// P10: the minimum of millions of samples is so low that it would take half of the height.
func distribution(blob []byte) ([][2]float64, error) {
	h, err := hdrhistogram.Decode(blob)
	if err != nil {
		return nil, err
	}
	var points [][2]float64
	total := float64(h.TotalCount())
	for _, b := range h.CumulativeDistributionWithTicks(10) {
		left := 1 - b.Quantile/100
		if left <= 0 || total*left < 10 {
			break
		}
		if b.Quantile < 10 {
			continue
		}
		points = append(points, [2]float64{1 / left, max(1, float64(b.ValueAt))})
	}
	return points, nil
}
