package words

import (
	"fmt"

	"github.com/dewpond/dewpond/internal/measure/figure"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/summary"
)

// Tail is the percentile by which decay is judged: whoever lets blocks go must not be
// felt by those who get and put meanwhile.
const Tail = "p9999"

// WithinNoise says whether an interval contains 1: nothing where too few rounds cannot
// tell.
func WithinNoise(r result.Ratio) string {
	switch {
	case r.Rounds < summary.VerdictRounds:
		return ""
	case r.Low <= 1 && 1 <= r.High:
		return "yes"
	}
	return "no"
}

// decayWords is the verdict on decay; nothing where there are too few rounds for
// one, or with --quick.
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
