package page

import (
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// charts draws latency by percentile for each operation, and then the curves over time.
func charts(d result.Document) ([]chart, error) {
	var out []chart
	for _, op := range slices.Concat(figure.InReadingOrder(d.Scenario)...) {
		data := chartData{Kind: "percentile", Unit: "ns"}
		for i := range d.Contenders {
			t := op.Times(&d.Contenders[i])
			if t == nil {
				continue
			}
			points, err := distribution(t.Histogram)
			if err != nil {
				return nil, err
			}
			if len(points) > 1 {
				data.Lines = append(data.Lines, line{Contender: i, Points: points, name: d.Contenders[i].Name})
			}
		}
		if len(data.Lines) == 0 {
			continue
		}
		c, err := plotLines(op.Label+" latency by percentile", op.What+"; all rounds merged, ends where fewer than 10 samples lie beyond", distance, logTime, data)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	over, err := overTime(d)
	return append(out, over...), err
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
