package page

import (
	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// overTime draws a chart for each series, with a line for each contender.
func overTime(d result.Document) ([]chart, error) {
	var out []chart
	for _, cv := range figure.Curves(d) {
		name, note := cv.Name, "the median round of each contender"
		if s := cv.Silence(d); s != "" {
			note += "; " + s
		}
		data := chartData{Kind: "series", Unit: figure.Unit(name)}
		for i, c := range d.Contenders {
			if len(c.Series[name]) < 2 {
				continue
			}
			l := line{Contender: i, name: c.Name}
			for _, p := range c.Series[name] {
				l.Points = append(l.Points, [2]float64{p.Seconds, p.Value})
			}
			data.Lines = append(data.Lines, l)
		}
		if len(data.Lines) == 0 {
			continue
		}
		seconds := func(v float64) string { return figure.Significant(v) + " s" }
		c, err := plotLines(cv.Title, note, linear(seconds), linear(func(v float64) string { return figure.Format(name, v) }), data)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}
