package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/result"
)

const excessTitle = "Excess over " + control + " (pool minus control; ~ where the interval contains 0)"

func pick(keys ...string) []operation {
	var out []operation
	for _, op := range operations {
		if slices.Contains(keys, op.key) {
			out = append(out, op)
		}
	}
	return out
}

// latencies shows the percentiles of one or two operations side by side.
func latencies(d result.Document, ops []operation) grid {
	var heads, titles []string
	for _, op := range ops {
		titles = append(titles, op.label)
		for _, p := range percentiles {
			heads = append(heads, columnHead(ops, op, p.label))
		}
	}
	merged, refused := false, false
	g := columns(d, strings.Join(titles, " and ")+" times", heads, func(c *result.Contender, i int) cell {
		t := ops[i/len(percentiles)].times(c)
		if t == nil {
			return cell{text: none}
		}
		p := percentiles[i%len(percentiles)]
		f := *p.of(t)
		if f == nil {
			refused = true
			return cell{text: none}
		}
		x := value("_ns", *f)
		if slices.Contains(t.Merged, p.key+"_ns") {
			merged = true
			x.text += "*"
		}
		return x
	})
	if len(ops) > 1 {
		for _, h := range g.head[1:] {
			if strings.HasPrefix(h, ops[0].head+" ") {
				g.half++
			}
		}
	}
	for _, op := range ops {
		if op.key != "get" && op.key != "put" {
			g.notes = append(g.notes, op.label+": "+op.what+".")
		}
	}
	if merged {
		g.notes = append(g.notes, "* of all rounds merged: single rounds have fewer than 10 samples beyond it.")
	}
	if refused {
		g.notes = append(g.notes, "A percentile with fewer than 10 samples beyond it in all rounds together is not printed.")
	}
	return g
}

// extremes are the maximum, which a closed loop can stretch to the length of a
// round without any pool, and the number of samples behind the percentiles.
func extremes(d result.Document, ops []operation) grid {
	var heads []string
	for _, op := range ops {
		heads = append(heads, op.head+" max", op.head+" samples")
	}
	return columns(d, "Maximum and number of samples", heads, func(c *result.Contender, i int) cell {
		t := ops[i/2].times(c)
		switch {
		case t == nil:
			return cell{text: none}
		case i%2 == 0:
			return value("max_ns", t.Max)
		}
		return cell{text: count(float64(t.Samples))}
	})
}

func latencyRatios(d result.Document, op operation) grid {
	var names []string
	for _, p := range percentiles {
		names = append(names, op.key+"_"+p.key+"_ns")
	}
	g := columns(d, fmt.Sprintf("%s: ratios to %s", op.label, baseline), percentileHeads(), func(c *result.Contender, i int) cell {
		r, ok := c.Ratios[names[i]]
		return compared(names[i], r, ok)
	})
	g.notes = []string{confidences(d, names...)}
	return g
}

func latencyExcess(d result.Document, ops []operation) grid {
	var names, heads []string
	for _, op := range ops {
		for _, p := range percentiles {
			names = append(names, op.key+"_"+p.key+"_ns")
			heads = append(heads, columnHead(ops, op, p.label))
		}
	}
	return columns(d, excessTitle, heads, func(c *result.Contender, i int) cell { return over(c, names[i]) })
}

// over is the cell of an excess.
func over(c *result.Contender, name string) cell {
	e, ok := c.Excess[name]
	if !ok {
		return cell{text: none}
	}
	x := cell{text: signed(name, e.Median), spread: signed(name, e.Low) + " to " + signed(name, e.High)}
	if e.Low <= 0 && 0 <= e.High {
		x.text = "~"
	}
	return x
}

func percentileHeads() []string {
	var out []string
	for _, p := range percentiles {
		out = append(out, p.label)
	}
	return out
}

func columnHead(ops []operation, op operation, what string) string {
	if len(ops) == 1 {
		return what
	}
	return op.head + " " + what
}
