package judge

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// AtFloor reports whether a contender's figure cannot be told apart from that of the control,
// which has no pool.
func AtFloor(c *bench.Contender, name string) bool {
	if c == nil {
		return false
	}
	e, ok := c.Excess[name]
	return ok && e.Rounds >= summary.VerdictRounds && e.Low <= 0 && 0 <= e.High
}

// below reports whether a contender takes less time than the control, which is no floor there: its
// own buffers cost more.
func below(c *bench.Contender, name string) bool {
	if c == nil || !figure.IsTime(name) {
		return false
	}
	e, ok := c.Excess[name]
	return ok && e.Rounds >= summary.VerdictRounds && e.High < 0
}

// Between returns the side of a contender's figure beside the baseline's. Where the control, which
// has no pool, shows no less than either, what looks like a difference is the driver's or the
// machine's: it is [verdict.Unseen].
func Between(c, base *bench.Contender, name string) verdict.Side {
	if e, ok := c.Differences[name]; ok {
		return verdict.OfDifference(name, e)
	}
	side := verdict.Of(name, c.Ratios[name])
	switch {
	case side == verdict.None, side == verdict.Level:
	case side == verdict.Better && below(c, name) && AtFloor(base, name): // it is better than no pool, too
	case (AtFloor(c, name) || below(c, name)) && (AtFloor(base, name) || below(base, name)):
		return verdict.Unseen
	}
	return side
}
