// Package verdict says whether a figure is better than what it is compared with. Every report asks
// it: those of the bench, the lab, dewload and the example's comparison. docs/benchmarks.md has the
// rule in words.
package verdict

import (
	"math"

	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
)

// A Side says how a contender's figure compares with the baseline's. A report uses these words and
// no others.
type Side string

// The sides.
const (
	None    Side = ""                // too few rounds to tell
	Better  Side = "better"          // by Least or more, and the interval says so
	Worse   Side = "worse"           // likewise
	Level   Side = "level"           // less than Least apart
	Unclear Side = "unclear"         // further apart than that, but the interval contains 1
	Unseen  Side = "none to be seen" // further apart than Least, but a control shows as much
)

// Least is the least difference that a report calls one. What is less makes no difference to a
// user, however narrow its interval is.
const Least = 0.02

// Of returns the side of a ratio to the baseline. The name of the figure says whether more is
// better.
func Of(name string, r result.Ratio) Side { return OfRatio(r, figure.HigherIsBetter(name), Least) }

// OfRatio returns the side of a ratio of a figure of which more is better, or less. least is the
// least difference from 1 that is called one: Least, unless the effect that is asked for is itself
// no larger.
func OfRatio(r result.Ratio, moreIsBetter bool, least float64) Side {
	switch {
	case r.Rounds < summary.VerdictRounds:
		return None
	case math.Abs(r.Median-1) < least:
		return Level
	case r.Low <= 1 && 1 <= r.High:
		return Unclear
	case (r.Median > 1) == moreIsBetter:
		return Better
	}
	return Worse
}

// OfRepeated returns the side of a ratio to a baseline that was measured twice. again is the ratio of
// its second measurement to its first, which no change has caused: what lies within its interval is
// Unseen.
func OfRepeated(r, again result.Ratio, moreIsBetter bool) Side {
	side := OfRatio(r, moreIsBetter, Least)
	if (side == Better || side == Worse) && again.Rounds > 0 && again.Low <= r.Median && r.Median <= again.High {
		return Unseen
	}
	return side
}

// OfDifference returns the side of a count beside a baseline that has none in some round. There is
// no least difference: one beside none is one.
func OfDifference(name string, e result.Excess) Side {
	switch {
	case e.Rounds < summary.VerdictRounds:
		return None
	case e.Low == 0 && e.High == 0:
		return Level
	case e.Low <= 0 && 0 <= e.High:
		return Unclear
	case (e.Median > 0) == figure.HigherIsBetter(name):
		return Better
	}
	return Worse
}
