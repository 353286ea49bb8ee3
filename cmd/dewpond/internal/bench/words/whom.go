package words

import (
	"fmt"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// ForWhom says for whom dewpond is and for whom not, by the verdicts of a tour's answers. An answer
// is in one of three sentences, whatever its side, and the sentence for either side is there also
// without one.
func ForWhom(d bench.Document) []string {
	needs := map[verdict.Side][]string{}
	for _, a := range d.Answers {
		if a.Need != "" && a.Side != "" {
			side := verdict.Side(a.Side)
			if side == verdict.Unclear || side == verdict.Unseen {
				side = verdict.Level // no difference that the interval, or the control, shows
			}
			needs[side] = append(needs[side], fmt.Sprintf("%s (%s beside %s)", a.Need,
				figure.Format(a.Figure, a.Ours.Median), figure.Format(a.Figure, a.Baseline.Median)))
		}
	}
	if len(needs) == 0 {
		return []string{fmt.Sprintf("For whom dewpond is takes more rounds to say: %d or more, without --quick.", summary.VerdictRounds)}
	}
	say := func(begins string, side verdict.Side, nothing string) string {
		if needs[side] == nil {
			return nothing
		}
		return begins + " if " + either(needs[side]) + "."
	}
	out := []string{
		say("For you", verdict.Better, "No figure here speaks for it."),
		say("Not for you", verdict.Worse, "No figure here speaks against it."),
	}
	if s := say("No difference shown", verdict.Level, ""); s != "" {
		out = append(out, s)
	}
	return out
}

// either joins the items of a list of which one is enough.
func either(items []string) string {
	last := len(items) - 1
	if last == 0 {
		return items[0]
	}
	return strings.Join(items[:last], ", ") + " or " + items[last]
}
