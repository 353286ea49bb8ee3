package webpage

import (
	"fmt"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/page"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// A field is the picture of one figure of scenario rivals: for each cell dewpond's ratio to each
// rival, with its interval, over one logarithmic axis.
type field struct {
	Title string
	Rows  []fieldRow
	Ticks []page.Tick
	Even  float64 // the place of 1, in percent
}

// A fieldRow is a cell. Each rival has a line of its own in it.
type fieldRow struct {
	Cell, About string
	Height      int // in pixels
	Marks       []mark
}

// A mark is dewpond's ratio to one rival. Its places are in percent of the axis, and Top in pixels.
type mark struct {
	Index         int // the rival's number
	Text          string
	At, Low, Span float64
	Top           int
}

// lane is the height of a rival's line in a cell.
const lane = 11

// fields returns the pictures of a document. A figure that has no ratio in any cell has none.
func fields(d bench.Document, index map[string]int) []field {
	var out []field
	if len(d.Cells) == 0 {
		return nil
	}
	for i, f := range d.Cells[0].Figures {
		var ratios []*result.Ratio
		for _, c := range d.Cells {
			for _, r := range c.Rivals {
				if len(r.Figures) > i && r.Figures[i].Ours != nil {
					ratios = append(ratios, r.Figures[i].Ours.Ratio)
				}
			}
		}
		x := newRatioAxis(ratios)
		p := field{Title: f.Label, Ticks: x.ticks(), Even: x.at(1)}
		drawn := false
		for _, c := range d.Cells {
			row := fieldRow{Cell: c.Name, About: c.About}
			for _, r := range c.Rivals {
				if len(r.Figures) <= i || r.Figures[i].Ours == nil || r.Figures[i].Ours.Ratio == nil {
					continue
				}
				ratio := r.Figures[i].Ours.Ratio
				low := x.at(ratio.Low)
				row.Marks = append(row.Marks, mark{
					Index: index[r.Name], Top: lane*len(row.Marks) + lane/2,
					Text: fmt.Sprintf("%s to %s: %s", bench.Ours, r.Name, figures.Between(c.Figures[i].Figure, ratio, nil)),
					At:   x.at(ratio.Median), Low: low, Span: x.at(ratio.High) - low,
				})
			}
			row.Height = lane * max(2, len(row.Marks))
			drawn = drawn || len(row.Marks) > 0
			p.Rows = append(p.Rows, row)
		}
		if drawn {
			out = append(out, p)
		}
	}
	return out
}
