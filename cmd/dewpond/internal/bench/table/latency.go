package table

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

const excessTitle = "Excess over " + bench.Control + ", the control (~ means that the interval contains 0)"

// latencies shows the percentiles of one or two operations side by side.
func latencies(d bench.Document, ops []figure.Operation) Table {
	var heads, titles []string
	for _, op := range ops {
		titles = append(titles, op.Label)
		for _, p := range figure.Percentiles {
			heads = append(heads, columnHead(ops, op, p.Label))
		}
	}
	merged, refused := false, false
	g := columns(d, strings.Join(titles, " and ")+" times", heads, func(c *bench.Contender, i int) Cell {
		t := figures.Times(c, ops[i/len(figure.Percentiles)])
		if t == nil {
			return Cell{Text: none}
		}
		p := figure.Percentiles[i%len(figure.Percentiles)]
		f := *figures.At(t, p)
		if f == nil {
			refused = true
			return Cell{Text: none}
		}
		x := value("_ns", *f)
		if slices.Contains(t.Merged, p.Key+"_ns") {
			merged = true
			x.Text += "*"
		}
		return x
	})
	if len(ops) > 1 {
		for _, h := range g.Head[1:] {
			if strings.HasPrefix(h, ops[0].Head+" ") {
				g.Half++
			}
		}
	}
	for _, op := range ops {
		if op.Key != "get" && op.Key != "put" {
			g.Notes = append(g.Notes, op.Label+": "+op.What+".")
		}
	}
	if ops[0].Key == "get" && slices.ContainsFunc(d.Contenders, func(c bench.Contender) bool { return c.Replace != nil }) {
		g.Notes = append(g.Notes, words.Halves)
	}
	if merged {
		g.Notes = append(g.Notes, "* of all rounds merged: single rounds have fewer than 10 samples beyond it.")
	}
	if refused {
		g.Notes = append(g.Notes, "A percentile with fewer than 10 samples beyond it in all rounds together is not printed.")
	}
	return g
}

// extremes shows the maximum, which a closed loop can stretch to the length of a round even
// without a pool, and the number of samples of the percentiles.
func extremes(d bench.Document, ops []figure.Operation) Table {
	var heads []string
	for _, op := range ops {
		heads = append(heads, op.Head+" max", op.Head+" samples")
	}
	return columns(d, "Maximum and number of samples", heads, func(c *bench.Contender, i int) Cell {
		t := figures.Times(c, ops[i/2])
		switch {
		case t == nil:
			return Cell{Text: none}
		case i%2 == 0:
			return value("max_ns", t.Max)
		}
		return Cell{Text: figure.Count(float64(t.Samples))}
	})
}

func latencyRatios(d bench.Document, op figure.Operation) Table {
	var names []string
	for _, p := range figure.Percentiles {
		names = append(names, op.Figure(p))
	}
	g := columns(d, fmt.Sprintf("%s: ratios to %s", op.Label, bench.Baseline), percentileHeads(), func(c *bench.Contender, i int) Cell {
		return compared(d, c, names[i])
	})
	g.Notes = []string{confidences(d, names...)}
	return g
}

func latencyExcess(d bench.Document, ops []figure.Operation) Table {
	var names, heads []string
	for _, op := range ops {
		for _, p := range figure.Percentiles {
			names = append(names, op.Figure(p))
			heads = append(heads, columnHead(ops, op, p.Label))
		}
	}
	return columns(d, excessTitle, heads, func(c *bench.Contender, i int) Cell { return over(c, names[i]) })
}

// over returns the cell of an excess.
func over(c *bench.Contender, name string) Cell {
	e, ok := c.Excess[name]
	if !ok {
		return Cell{Text: none}
	}
	x := Cell{Text: figure.Signed(name, e.Median), Spread: figure.Signed(name, e.Low) + " to " + figure.Signed(name, e.High)}
	if e.Low <= 0 && 0 <= e.High {
		x.Text = "~"
	}
	return x
}

func percentileHeads() []string {
	var out []string
	for _, p := range figure.Percentiles {
		out = append(out, p.Label)
	}
	return out
}

func columnHead(ops []figure.Operation, op figure.Operation, what string) string {
	if len(ops) == 1 {
		return what
	}
	return op.Head + " " + what
}
