// Package verdict decides which figures of a contender are better than those of syncpool-class.
package verdict

import (
	"math"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/summary"
)

// A Side says how a contender's figure compares with the baseline's. A report uses these words and
// no others.
type Side string

// The sides.
const (
	None    Side = ""        // too few rounds to tell
	Better  Side = "better"  // by Least or more, and the interval says so
	Worse   Side = "worse"   // likewise
	Level   Side = "level"   // less than Least apart
	Unclear Side = "unclear" // further apart than that, but the interval contains 1
)

// Least is the least difference that a report calls one. What is less makes no difference to a
// user, however narrow its interval is.
const Least = 0.02

// Of returns the side of a ratio to the baseline.
func Of(name string, r result.Ratio) Side {
	switch {
	case r.Rounds < summary.VerdictRounds:
		return None
	case math.Abs(r.Median-1) < Least:
		return Level
	case r.Low <= 1 && 1 <= r.High:
		return Unclear
	case (r.Median > 1) == figure.HigherIsBetter(name):
		return Better
	}
	return Worse
}

// AtFloor reports whether a contender's figure cannot be told apart from that of the control,
// which has no pool.
func AtFloor(c *result.Contender, name string) bool {
	if c == nil {
		return false
	}
	e, ok := c.Excess[name]
	return ok && e.Rounds >= summary.VerdictRounds && e.Low <= 0 && 0 <= e.High
}

// Between returns the side of a contender's figure beside the baseline's. floor reports that
// neither of them can be told apart from the control: what looks like a difference is then the
// driver's or the machine's, so the side is Unclear at most.
func Between(c, base *result.Contender, name string) (side Side, floor bool) {
	side = Of(name, c.Ratios[name])
	if side == None || !AtFloor(c, name) || !AtFloor(base, name) {
		return side, false
	}
	if side != Level {
		side = Unclear
	}
	return side, true
}
