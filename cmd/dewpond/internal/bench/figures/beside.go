package figures

import (
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// Beside formats how a contender's figure compares with the baseline's: by its ratio or, where the
// baseline has none of what is counted, by its difference. It is empty if there is neither.
func Beside(c *bench.Contender, name string) string {
	if r, ok := c.Ratios[name]; ok {
		return Between(name, &r, nil)
	}
	if e, ok := c.Differences[name]; ok {
		return Between(name, nil, &e)
	}
	return ""
}

// Compared formats how an answer's two figures compare, as [Beside] does.
func Compared(a bench.Answer) string { return Between(a.Figure, a.Ratio, a.Difference) }

// Between formats a ratio or, if it is nil, a difference. It is empty if both are nil.
func Between(name string, ratio *result.Ratio, difference *result.Excess) string {
	switch {
	case ratio != nil:
		return figure.Bracketed(*ratio)
	case difference != nil:
		return differing(name, *difference)
	}
	return ""
}

// differing formats a difference with its interval: "+64 [60, 64]", "+90.4 % [90.1, 90.6]". An
// interval whose ends look alike is left out.
func differing(name string, e result.Excess) string {
	s := figure.Signed(name, e.Median)
	end := func(v float64) string { return strings.TrimSuffix(figure.Format(name, v), " %") }
	if low, high := end(e.Low), end(e.High); low != high {
		s += " [" + low + ", " + high + "]"
	}
	return s
}
