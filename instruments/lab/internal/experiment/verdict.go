package experiment

import (
	"fmt"
	"math"

	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// A Verdict is what the figures say of a claim. A report uses these words and no others.
type Verdict string

// The verdicts.
const (
	Reproduced    Verdict = "reproduced"       // in direction and size
	DirectionOnly Verdict = "direction only"   // another size
	NotReproduced Verdict = "not reproduced"   // no such effect here, or the reverse
	Inconsistent  Verdict = "inconsistent"     // its own figures fit together only under a condition that it does not name
	Impossible    Verdict = "cannot be true"   // its own figures contradict each other, whatever is measured
	CannotTell    Verdict = "cannot tell here" // the noise is larger than the effect, or something is missing
)

// Verdicts are all of them, from the best for a claim to no verdict.
var Verdicts = []Verdict{Reproduced, DirectionOnly, NotReproduced, Inconsistent, Impossible, CannotTell}

// A Finding is a verdict with its reasons. One that says [Impossible] has the arithmetic that shows it,
// in which no figure was measured.
type Finding struct {
	Verdict  Verdict `json:"verdict"`
	Measured string  `json:"measured"` // the figure here, with its spread
	Control  string  `json:"control"`  // what it is measured against
	Why      string  `json:"why"`
	Do       string  `json:"do"` // one sentence: what follows for a user

	Arithmetic string `json:"arithmetic,omitempty"`
}

// Compare judges a ratio by what a publication says that it is. What a publication says must be off 1.
//
// The ratio is reproduced if it is on the publication's side of 1, by the rule of all verdicts, and its
// effect is half to twice as large, counted in doublings. It has the direction only if the effect is
// smaller or larger. It is not reproduced if it is on the other side, or if its interval leaves no room
// for half of the effect. Otherwise the noise is larger than the effect.
func Compare(r result.Ratio, claimed float64) (Verdict, string) {
	text := fmt.Sprintf("the ratio is %s where the article has %s", figure.Bracketed(r), figure.Significant(claimed))
	effect := math.Log(claimed) // in the publication's direction
	// Half of an effect of less than 4 % is below the least difference.
	least := min(verdict.Least, math.Abs(math.Sqrt(claimed)-1))
	switch size := math.Log(r.Median) / effect; verdict.OfRatio(r, claimed > 1, least) {
	case verdict.None:
		return CannotTell, tooFew(r)
	case verdict.Better:
		switch {
		case size > 2:
			return DirectionOnly, text + Larger
		case size < 0.5:
			return DirectionOnly, text + ": it is smaller"
		}
		return Reproduced, text
	case verdict.Worse:
		return NotReproduced, text + ": it is the reverse"
	}
	if most := max(math.Log(r.Low)/effect, math.Log(r.High)/effect); most < 0.5 {
		return NotReproduced, text + ": there is no such effect"
	}
	return CannotTell, text + ", which is too wide to tell"
}

func tooFew(r result.Ratio) string {
	return fmt.Sprintf("%d rounds are too few for an interval", r.Rounds)
}

// Equal judges a claim that two values are the same: it is reproduced if the interval of their
// ratio lies within that share of 1, and not if the interval lies beyond it.
func Equal(r result.Ratio, share float64) (Verdict, string) {
	text := "the ratio is " + figure.Bracketed(r)
	lowest, most := 1/(1+share), 1+share
	switch {
	case r.Rounds < summary.VerdictRounds:
		return CannotTell, tooFew(r)
	case r.Low >= lowest && r.High <= most:
		return Reproduced, text
	case r.Low > most || r.High < lowest:
		return NotReproduced, text
	}
	return CannotTell, text + ", which is too wide to tell"
}

// Larger ends the reason of a finding whose effect is more than twice the published one.
const Larger = ": it is larger"

// Direction judges a ratio of which a publication says only that it is above 1, or below.
func Direction(r result.Ratio, above bool) (Verdict, string) {
	text := "the ratio is " + figure.Bracketed(r) + "; the article names no size"
	switch verdict.OfRatio(r, above, verdict.Least) {
	case verdict.None:
		return CannotTell, tooFew(r)
	case verdict.Better:
		return Reproduced, text
	case verdict.Worse:
		return NotReproduced, text + ": it is the reverse"
	case verdict.Level:
		if r.Low > 0.85 && r.High < 1/0.85 {
			return NotReproduced, text + ": there is no such effect"
		}
	}
	return CannotTell, text + ", and the interval has room for either"
}

// Counts judges a ratio of two counts that come out the same each time: one run decides. A count of
// none is taken for one, so that the ratio is not larger than what was seen.
func Counts(a, b, claimed float64) (Verdict, string) {
	ratio := max(a, 1) / max(b, 1)
	return Compare(result.Ratio{Median: ratio, Low: ratio, High: ratio, Rounds: summary.VerdictRounds}, claimed)
}

// ClosedMean returns the mean response of a closed loop in nanoseconds, by Little's law: so many
// users at once, and so many answers a second.
func ClosedMean(users, rate float64) float64 { return users / rate * 1e9 }

// Strained says under which condition alone a row of a table of a closed loop can be true: if its mean
// response, by Little's law, is above its own P99, a hundredth of the answers carries the mean, or
// some users do nothing. It is empty if the mean is not above the P99.
func Strained(users, rate, p99 float64) string {
	mean := ClosedMean(users, rate)
	if mean <= p99 {
		return ""
	}
	slowest, busy := (mean-0.99*p99)/0.01, rate*p99/1e9
	return fmt.Sprintf("by Little's law %s users at %s a second wait %s on average, and the P99 is %s: unless the slowest hundredth of the answers takes %s in the mean, or only %s users were served",
		figure.Count(users), figure.Count(rate), figure.Duration(mean), figure.Duration(p99), figure.Duration(slowest), figure.Count(busy))
}

// Lacking returns the finding of a claim for which values are missing, or false.
func (m Measured) Lacking(all ...Value) (Finding, bool) {
	for _, v := range all {
		if m.Has(v) {
			continue
		}
		why := fmt.Sprintf("%s of %s was not measured", v.Figure, v.Case)
		if reason := m.Absent[v.Case]; reason != "" {
			why += ": " + reason
		}
		return Finding{Verdict: CannotTell, Measured: "nothing", Control: "none", Why: why, Do: "Run it where that is there."}, true
	}
	return Finding{}, false
}
