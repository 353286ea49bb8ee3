package table

import (
	"cmp"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// decay compares dewpond with decay and without, for the steady traffic. The cost for the bursts
// is in the scenario's own table and in the words.
func decay(d bench.Document) Table {
	g := Table{Title: "What decay costs: " + bench.Ours + " to " + bench.Undecayed, Head: append([]string{""}, percentileHeads()...)}
	g.Head = append(g.Head, "P9999 is")
	var names []string
	for _, op := range figure.Pick("replace", "get", "put") {
		r, any := Row{Name: op.Label, Kind: OfOperation}, false
		for _, p := range figure.Percentiles {
			name := op.Figure(p)
			ratio, ok := d.Decay[name]
			names, any = append(names, name), any || ok
			cell := Cell{Text: none}
			if ok {
				cell = Cell{Text: figure.Bracketed(ratio), Tone: toneOf(verdict.Of(name, ratio))}
			}
			r.Cells = append(r.Cells, cell)
		}
		tail := op.Key + "_" + words.Tail + "_ns"
		r.Cells = append(r.Cells, Cell{Text: cmp.Or(string(verdict.Of(tail, d.Decay[tail])), none)})
		if any {
			g.Rows = append(g.Rows, r)
		}
	}
	var all []result.Ratio
	for _, name := range names {
		if r, ok := d.Decay[name]; ok {
			all = append(all, r)
		}
	}
	g.Notes = append(g.Notes, brackets(all))
	if _, ok := d.Decay["burst_ns"]; ok {
		g.Notes = append(g.Notes, "Get and Put are those of the steady traffic, also during a burst; the table above has the bursts.")
	}
	return g
}
