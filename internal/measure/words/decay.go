package words

import (
	"fmt"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/summary"
)

// Tail is the percentile by which decay is judged: freeing blocks must not slow down the Gets and
// Puts that run meanwhile.
const Tail = "p9999"

// WithinNoise says whether an interval contains 1: "yes" or "no", or nothing if there are too few
// rounds to tell.
func WithinNoise(r result.Ratio) string {
	switch {
	case r.Rounds < summary.VerdictRounds:
		return ""
	case r.Low <= 1 && 1 <= r.High:
		return "yes"
	}
	return "no"
}

// decayWords returns the verdict on decay. It returns nothing with --quick, or if there are too few
// rounds.
func decayWords(d result.Document) []string {
	if d.Scenario.Quick {
		return nil
	}
	var out []string
	for _, op := range figure.Pick("get", "put") {
		name := op.Key + "_" + Tail + "_ns"
		r := d.Decay[name]
		if said := WithinNoise(r); said != "" {
			out = append(out, fmt.Sprintf("Decay on beside off (%s to %s), %s: %s, the %s interval of the median over %d rounds; within noise: %s.",
				result.Ours, result.Undecayed, figure.Label(name), figure.Bracketed(r), figure.Percent(r.Confidence), r.Rounds, said))
		}
	}
	if r := d.Decay["burst_ns"]; r.Rounds >= summary.VerdictRounds {
		said := fmt.Sprintf("A burst takes %s as long with decay on", figure.Bracketed(r))
		if r.Low > 1 {
			said += ": what was let go is allocated anew"
		}
		out = append(out, said+".")
	}
	return out
}
