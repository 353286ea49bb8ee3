package words

import (
	"fmt"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/rivals"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// contestWords says how often each of ours lost and won in scenario rivals, and names what it lost.
func contestWords(d bench.Document) Verdict {
	var v Verdict
	if contestWithheld(d) != "" {
		return v
	}
	looked := count{confidence: 1}
	for _, ours := range []string{bench.Ours, bench.Synced} {
		var all []rivals.Match
		for _, m := range rivals.Matches(d) {
			if m.Ours == ours && m.Judged() {
				all = append(all, m)
				looked.intervals++
				looked.confidence = min(looked.confidence, m.Confidence())
			}
		}
		if len(all) > 0 {
			v.Ours = append(v.Ours, tally(ours, all)...)
		}
	}
	v.Limits = append([]string{looked.limit("A ratio is one contender's figure divided by the other's, the median over rounds paired in time")}, busy(d.Environment)...)
	return v
}

// tally counts the matches of one of ours, and names what it lost, cell by cell.
func tally(ours string, all []rivals.Match) []string {
	var lost, won, named []string
	last := ""
	for _, m := range all {
		switch {
		case m.Lost():
			lost = append(lost, m.Figure.Label)
			said := Match(m)
			if m.Cell.Name != last {
				last = m.Cell.Name
				named = append(named, fmt.Sprintf("%s loses in %s: %s", ours, m.Cell.Name, said))
			} else {
				named[len(named)-1] += "; " + said
			}
		case m.Won():
			won = append(won, m.Figure.Label)
		}
	}
	beside := "its rivals"
	if ours == bench.Synced {
		beside = bench.Plain
	}
	out := []string{fmt.Sprintf("Of %s of %s with %s, it loses %s and wins %s. In the others the two are less than %s times apart, or the interval contains 1.",
		figure.Several(len(all), "comparison"), ours, beside, tallied(lost), tallied(won), figure.Significant(rivals.Most))}
	for _, s := range named {
		out = append(out, s+".")
	}
	return out
}

// tallied counts labels: "3 (time 2, P99 1)".
func tallied(labels []string) string {
	if len(labels) == 0 {
		return "none"
	}
	var order []string
	times := map[string]int{}
	for _, l := range labels {
		if times[l] == 0 {
			order = append(order, l)
		}
		times[l]++
	}
	for i, l := range order {
		order[i] = fmt.Sprintf("%s %d", l, times[l])
	}
	return fmt.Sprintf("%d (%s)", len(labels), strings.Join(order, ", "))
}

// Match formats a match: "time beside mcache 1.21x [1.15, 1.30]".
func Match(m rivals.Match) string {
	s := fmt.Sprintf("%s beside %s %s", m.Figure.Label, m.Rival, figures.Between(m.Figure.Figure, m.Ratio, m.Difference))
	if m.Side == string(verdict.Unseen) {
		s += ", and no less without a pool"
	}
	return s
}

// contestWithheld returns why there is no verdict on a document of rivals, or "".
func contestWithheld(d bench.Document) string {
	if d.Scenario.Quick {
		return "No verdict: --quick gives figures only."
	}
	all := rivals.Matches(d)
	if len(all) == 0 {
		return fmt.Sprintf("No verdict: it compares %s with others, and %s with %s. Give --contenders that have these.", bench.Ours, bench.Synced, bench.Plain)
	}
	for _, m := range all {
		if m.Judged() {
			return ""
		}
	}
	return tooFew("No verdict", "another")
}
