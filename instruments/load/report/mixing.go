package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/load"
)

// WriteMixing writes a table of the protocols for a terminal.
func WriteMixing(w io.Writer, m load.Mixing) error {
	out := bufio.NewWriter(w)
	rows := [][]string{{"", "alone", "in the mixture", "ratio", ""}}
	for _, c := range m.Costs {
		label := strings.ToUpper(strings.TrimSuffix(c.Name, "_ns"))
		rows = append(rows, []string{string(c.Protocol) + " " + label, figure.Duration(c.Alone), figure.Duration(c.Mixed), figure.Bracketed(c.Ratio), c.Verdict})
	}
	for _, a := range m.Alone {
		rows = append(rows, []string{string(a.Protocol) + " reuse", figure.Percent(reuse(a.Rounds, a.Protocol)), figure.Percent(reuse(m.Mixed, a.Protocol))})
	}
	columns.Write(out, rows)
	if len(m.Costs) == 0 {
		fmt.Fprintln(out, "Too few requests of each protocol in a round for its P50: give a longer --duration.")
	}
	fmt.Fprintf(out, "Medians of %d rounds in turns, at the same total rate; the ratio is mixed to alone, paired by rounds.\n", summary.VerdictRounds)
	for _, r := range append(alone(m), m.Mixed...) {
		if !r.Valid {
			fmt.Fprintf(out, "A round is not valid: %s\n", strings.Join(r.Why, "; "))
			break
		}
	}
	return out.Flush()
}

// alone returns all rounds of one protocol.
func alone(m load.Mixing) []load.Result {
	var all []load.Result
	for _, a := range m.Alone {
		all = append(all, a.Rounds...)
	}
	return all
}

// reuse returns the reuse of a protocol's connections in all rounds.
func reuse(rounds []load.Result, p load.Protocol) float64 {
	sum, n := 0.0, 0
	for _, r := range rounds {
		for _, part := range r.Protocols {
			if part.Name == string(p) {
				sum += part.Reuse
				n++
			}
		}
	}
	return sum / float64(max(1, n))
}
