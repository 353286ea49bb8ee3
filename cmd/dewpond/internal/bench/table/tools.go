package table

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// tools shows dewpond's tools: a group for each case, with a row for dewpond's tool and one for
// each thing that it replaces.
func tools(d bench.Document) Table {
	g := Table{Title: "dewpond's tools, and what they replace", Head: []string{"", "time", "bytes", "allocs", "dewpond's ratio to this"}}
	var ratios []result.Ratio
	for _, t := range d.Tools {
		g.Rows = append(g.Rows, Row{Name: t.Case, Kind: Heading, Cells: make([]Cell, len(g.Head)-1)})
		for _, a := range t.Alternatives {
			ratio := Cell{}
			if a.Ratio != nil {
				ratio = Cell{Text: figure.Bracketed(*a.Ratio), Tone: toneOf(verdict.Of("time_ns", *a.Ratio))}
				ratios = append(ratios, *a.Ratio)
			}
			g.Rows = append(g.Rows, Row{Name: a.Name, Kind: Member, Cells: []Cell{
				value("time_ns", a.Time), value("alloc_bytes_per_op", a.Bytes), value("allocs_per_op", a.Allocs), ratio,
			}})
		}
	}
	g.Notes = []string{
		brackets(ratios),
		"All of this runs in dewpond's own process, where the alternatives of a case take turns in short batches. A round's ratio is the median over its pairs of batches.",
		"Time, bytes and allocations are for one use: to get an object or a block and give it back, to use a scope, to build a body and write it out. In parallel there is one goroutine for each processor, and the time is the wall time divided by the uses of all.",
		"Zeroing: Pool and sync.Pool reset alike, a struct to zero, a bytes.Buffer by Reset. Lease and Get share a pool that never clears. Scope and Buffer clear on Put, dewpond's default, because make and a new bytes.Buffer give zeroed memory too. A pooled bytes.Buffer (of a sync.Pool) and bytebufferpool clear nothing.",
		"The mix is 24 bodies of 1.2 KB, then one of 64 KB. bytebufferpool has learned the sizes before: in the mix it drops the large buffers.",
	}
	return g
}
