package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/summary"
)

// flat returns the verdict as a table.
func flat(d bench.Document) Table {
	heads := []string{"RSS mean", "RSS per minute", "RSS flat",
		"stranded by decay", "by Trim", "by Close", "stranded flat", "in use", "in the Budget", "in use flat",
		"goroutines at start", "at rest", "goroutines flat"}
	cells := func(c *bench.Contender) []Cell {
		if c.Soak == nil {
			return nil
		}
		var out []Cell
		add := func(text string) { out = append(out, Cell{Text: text}) }
		of := func(name string) {
			if f, ok := c.Figures[name]; ok {
				out = append(out, value(name, f))
			} else {
				add(none)
			}
		}
		if t := c.Soak.RSS; t != nil {
			add(figure.ByteSize(t.Mean))
			add(words.PerMinute(t))
			add(words.RSS(t))
		} else {
			add(none)
			add(none)
			add(words.TooShort)
		}
		for _, f := range figures.Flatness {
			figures := f.Figures
			if f.Name == "goroutines" {
				figures = []string{"goroutines_at_start", "goroutines_at_rest"}
			}
			for _, name := range figures {
				of(name)
			}
			add(cmp.Or(words.Flat(c, f.Name), none))
		}
		return out
	}
	if d.Scenario.Name != bench.Soaking {
		return Table{}
	}
	g := columns(d, "Flat?", heads, func(c *bench.Contender, i int) Cell {
		if all := cells(c); all != nil {
			return all[i]
		}
		return Cell{Text: none}
	})
	g.Notes = []string{
		fmt.Sprintf("RSS: a straight line through the second half of the work, with the %s interval of its slope, if that half has two minutes. It decides nothing: memory is the machine's too.", figure.Percent(summary.Confidence)),
		"Stranded: what pools hold once all is put back: by decay, what is left after up to a minute (see decayed in, and idle after two timeouts); by Trim and by Close, what they leave, address space too. In use: by the count of the pools, and of the Budget.",
	}
	return g
}

// isFlatness reports whether the flatness table has a figure.
func isFlatness(name string) bool {
	return strings.HasPrefix(name, "goroutines_") || slices.ContainsFunc(figures.Flatness, func(f figures.Flat) bool { return slices.Contains(f.Figures, name) })
}
