package sessionlog

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
)

// WriteText writes the features for a terminal.
func (f *Features) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%d sessions, %d requests, %s sessions a second\n\n", f.Sessions, f.Requests, figure.Significant(f.Rate))
	rows := [][]string{{"requests", "failed", "bytes sent P50", "received P50", "first byte P50", "took P50", "at once", "pause before P50", "P95", ""}}
	for _, k := range f.Kinds {
		pause, longer := "-", "-"
		if k.Gaps > 0 {
			pause, longer = figure.Duration(float64(k.Thinking)), figure.Duration(float64(k.Longer))
		}
		rows = append(rows, []string{
			strconv.Itoa(k.Requests), strconv.Itoa(k.Failed), strconv.FormatInt(k.Sent, 10), strconv.FormatInt(k.Received, 10),
			figure.Duration(float64(k.FirstByte)), figure.Duration(float64(k.Took)), strconv.Itoa(k.Parallel), pause, longer, k.Name,
		})
	}
	for _, line := range columns.Remarked(rows) {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out)
	for _, p := range slices.Sorted(maps.Keys(f.Protocols)) {
		fmt.Fprintf(out, "%s: %s of the requests", p, figure.Percent(f.Protocols[p]))
		if share, ok := f.protocols[p]; ok {
			fmt.Fprintf(out, ", %s of the sessions that speak HTTP", figure.Percent(share))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out)
	for _, x := range f.Transitions {
		fmt.Fprintf(out, "%s -> %s: %s (%d)\n", x.From, x.To, figure.Percent(x.Share), x.Count)
	}
	return out.Flush()
}

// WriteText says which lines could not be read. It writes nothing if all could.
func (l *Log) WriteText(w io.Writer) {
	if l.Bad == 0 {
		return
	}
	fmt.Fprintf(w, "%d of %d lines cannot be read, such as:\n", l.Bad, l.Lines)
	for _, n := range l.Named {
		fmt.Fprintln(w, "  "+n)
	}
}
