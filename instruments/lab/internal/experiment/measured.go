package experiment

import (
	"maps"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/bars"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
)

// Measured is all that an experiment has measured.
type Measured struct {
	Rounds []result.Round
	// Absent says why a case has no figures.
	Absent map[string]string
}

// Collect returns what rounds have measured, with the cases that shared a process apart.
func Collect(rounds []result.Round, absent map[string]string) Measured {
	m := Measured{Absent: absent}
	for _, r := range rounds {
		own := r
		own.Figures = map[string]float64{}
		others := map[string]result.Round{}
		for name, v := range r.Figures {
			of, f, shared := strings.Cut(name, split)
			if !shared {
				own.Figures[name] = v
				continue
			}
			if _, ok := others[of]; !ok {
				others[of] = result.Round{Scenario: r.Scenario, Contender: of, Round: r.Round, Ops: r.Ops, Cut: r.Cut, Figures: map[string]float64{}}
			}
			others[of].Figures[f] = v
		}
		if len(own.Figures)+len(own.Series) > 0 {
			m.Rounds = append(m.Rounds, own)
		}
		for _, of := range slices.Sorted(maps.Keys(others)) {
			m.Rounds = append(m.Rounds, others[of])
		}
	}
	return m
}

// A Value names a figure of a case.
type Value struct{ Case, Figure string }

// Ours is the case that stands out in each chart.
const Ours = "dewpond"

// At names a figure of a case.
func At(name, figure string) Value { return Value{name, figure} }

// A Standing says which figure stands in for which: the keys are those that a claim is judged by.
// Without a name of a figure all of the case's stand in.
type Standing map[Value]Value

// As returns what was measured with stand-ins in their places, round by round.
func (m Measured) As(standing Standing) Measured {
	out := Measured{Absent: m.Absent}
	replaced := func(v Value) bool {
		_, own := standing[v]
		_, whole := standing[At(v.Case, "")]
		return own || whole
	}
	for _, r := range m.Rounds {
		own := r
		own.Figures = map[string]float64{}
		for name, x := range r.Figures {
			if !replaced(At(r.Contender, name)) {
				own.Figures[name] = x
			}
		}
		out.Rounds = append(out.Rounds, own)
		for to, from := range standing {
			if from.Case != r.Contender {
				continue
			}
			placed := result.Round{Contender: to.Case, Round: r.Round, Cut: r.Cut, Figures: map[string]float64{}}
			if from.Figure == "" {
				maps.Copy(placed.Figures, r.Figures)
			} else if x, ok := r.Figures[from.Figure]; ok {
				placed.Figures[to.Figure] = x
			}
			out.Rounds = append(out.Rounds, placed)
		}
	}
	return out
}

// values returns a figure by its round.
func (m Measured) values(v Value) map[int]float64 {
	out := map[int]float64{}
	for _, r := range m.Rounds {
		if x, ok := r.Figures[v.Figure]; ok && r.Contender == v.Case && !r.Cut {
			out[r.Round] = x
		}
	}
	return out
}

// Has reports whether every value was measured at least once.
func (m Measured) Has(all ...Value) bool {
	return !slices.ContainsFunc(all, func(v Value) bool { return len(m.values(v)) == 0 })
}

// Figure returns the median of a value, its least and its greatest.
func (m Measured) Figure(v Value) result.Figure {
	sorted := slices.Sorted(maps.Values(m.values(v)))
	if len(sorted) == 0 {
		return result.Figure{}
	}
	return result.Figure{Median: quantile.Median(sorted), Min: sorted[0], Max: sorted[len(sorted)-1]}
}

// Median returns the median of a value, 0 if there is none.
func (m Measured) Median(name, figure string) float64 { return m.Figure(At(name, figure)).Median }

// Text formats a value with its spread: "12.3 µs (11 to 14)".
func (m Measured) Text(v Value) string {
	f := m.Figure(v)
	format := func(x float64) string { return figure.Format(v.Figure, x) }
	if f.Min == f.Max {
		return format(f.Median)
	}
	return format(f.Median) + " (" + format(f.Min) + " to " + format(f.Max) + ")"
}

// Ratio returns the ratio of two values with its interval. Only rounds of the same number are
// compared: they ran close together in time. A ratio to zero is left out.
func (m Measured) Ratio(a, b Value) result.Ratio {
	var quotients []float64
	over := m.values(b)
	for round, x := range m.values(a) {
		if y := over[round]; y > 0 {
			quotients = append(quotients, x/y)
		}
	}
	if len(quotients) == 0 {
		return result.Ratio{}
	}
	return result.Ratio(summary.Interval(quotients))
}

// Cases returns the names of the cases that have figures, in the order in which they first ran.
func (m Measured) Cases() []string {
	var names []string
	for _, r := range m.Rounds {
		if !slices.Contains(names, r.Contender) {
			names = append(names, r.Contender)
		}
	}
	return names
}

// Figures returns the names of the figures that any case has, in alphabetical order.
func (m Measured) Figures() []string {
	set := map[string]bool{}
	for _, r := range m.Rounds {
		for name := range r.Figures {
			set[name] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// Curve returns a series of a case: at each x the median over the rounds.
func (m Measured) Curve(name, series string) [][2]float64 {
	at := map[float64][]float64{}
	for _, r := range m.Rounds {
		if r.Contender != name {
			continue
		}
		for _, p := range r.Series[series] {
			at[p.Seconds] = append(at[p.Seconds], p.Value)
		}
	}
	var out [][2]float64
	for _, x := range slices.Sorted(maps.Keys(at)) {
		out = append(out, [2]float64{x, quantile.Median(at[x])})
	}
	return out
}

// FiguresOf returns all figures of a case by their names.
func (m Measured) FiguresOf(name string) map[string]result.Figure {
	out := map[string]result.Figure{}
	for _, f := range m.Figures() {
		if v := At(name, f); m.Has(v) {
			out[f] = m.Figure(v)
		}
	}
	return out
}

// Bars returns a figure of the cases that have it, for a chart that compares them.
func (m Measured) Bars(name string) []bars.Value {
	var out []bars.Value
	for _, of := range m.Cases() {
		if v := At(of, name); m.Has(v) {
			out = append(out, bars.Value{Name: of, Ours: of == Ours, Figure: m.Figure(v)})
		}
	}
	return out
}
