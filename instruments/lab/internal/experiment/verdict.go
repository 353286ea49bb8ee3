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
	Impossible    Verdict = "cannot be true"   // it contradicts itself, or how Go works
	CannotTell    Verdict = "cannot tell here" // the noise is larger than the effect, or something is missing
)

// Verdicts are all of them, from the best for a claim to no verdict.
var Verdicts = []Verdict{Reproduced, DirectionOnly, NotReproduced, Impossible, CannotTell}

// A Finding is a verdict with its reasons.
type Finding struct {
	Verdict  Verdict `json:"verdict"`
	Measured string  `json:"measured"` // the figure here, with its spread
	Control  string  `json:"control"`  // what it is measured against
	Why      string  `json:"why"`
	Do       string  `json:"do"` // one sentence: what follows for a user
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
		if size >= 0.5 && size <= 2 {
			return Reproduced, text
		}
		return DirectionOnly, text
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

// ClosedMean returns the mean response of a closed loop in nanoseconds, by Little's law: so many
// users at once, and so many answers a second.
func ClosedMean(users, rate float64) float64 { return users / rate * 1e9 }

// Contradiction says why a row of a table cannot be true: a closed loop's mean response is above
// its own P99. It is empty if the row can be true.
func Contradiction(users, rate, p99 float64) string {
	mean := ClosedMean(users, rate)
	if mean <= p99 {
		return ""
	}
	return fmt.Sprintf("by Little's law %s users at %s a second wait %s on average, which is above the P99 of %s",
		figure.Count(users), figure.Count(rate), figure.Duration(mean), figure.Duration(p99))
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
