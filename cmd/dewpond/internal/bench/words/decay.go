package words

import (
	"fmt"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// Halves says why the replacement counts, and not its halves.
const Halves = "What a cold cache costs falls on whichever of Put and Get comes first and touches more: the replacement counts."

// Unseen says what [verdict.Unseen] means.
const Unseen = "None to be seen: without a pool (" + bench.Control + ") it is no less."

// Tail is the percentile by which decay is judged: to free blocks must not slow down the Gets and
// Puts that run meanwhile.
const Tail = "p9999"

// decayWords returns the verdict on decay. It returns nothing with --quick, or if there are too few
// rounds.
func decayWords(d bench.Document) []string {
	if d.Scenario.Quick {
		return nil
	}
	var out []string
	for _, op := range figure.Pick("replace", "get", "put") {
		name := op.Key + "_" + Tail + "_ns"
		r := d.Decay[name]
		if side := verdict.Of(name, r); side != verdict.None {
			out = append(out, fmt.Sprintf("With decay (%s beside %s) %s is %s: %s.",
				bench.Ours, bench.Undecayed, figures.Label(name), figure.Bracketed(r), side))
		}
	}
	r := d.Decay["burst_ns"]
	if side := verdict.Of("burst_ns", r); side != verdict.None {
		said := fmt.Sprintf("With decay a burst takes %s as long: %s", figure.Bracketed(r), side)
		if side == verdict.Worse {
			said += ", because it allocates again what decay has freed"
		}
		out = append(out, said+".")
	}
	return out
}
