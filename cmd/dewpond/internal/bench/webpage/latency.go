package webpage

import (
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/page"
)

// latencies draws the times of each operation by percentile. index finds the number of a contender.
func latencies(d bench.Document, index map[string]int) ([]page.Chart, error) {
	var out []page.Chart
	for _, op := range slices.Concat(figures.InReadingOrder(d.Scenario)...) {
		var curves []page.Curve
		for i := range d.Contenders {
			t := figures.Times(&d.Contenders[i], op)
			if t == nil {
				continue
			}
			points, err := page.Distribution(t.Histogram)
			if err != nil {
				return nil, err
			}
			if name := d.Contenders[i].Name; len(points) > 1 {
				curves = append(curves, page.Curve{Number: index[name], Name: name, Kind: kindOf(name), Points: points})
			}
		}
		if len(curves) > 0 {
			out = append(out, page.Latencies(op.Label+" latency by percentile",
				op.What+", all rounds merged; logarithmic axes; a line ends where fewer than 10 samples lie beyond", curves))
		}
	}
	return out, nil
}
