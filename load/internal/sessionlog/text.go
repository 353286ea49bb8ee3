package sessionlog

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"text/tabwriter"

	"github.com/dewpond/dewpond/internal/measure/figure"
)

// WriteText writes the features for a terminal.
func (f *Features) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%d sessions, %d requests, %s sessions a second\n\n", f.Sessions, f.Requests, figure.Significant(f.Rate))
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprint(t, "requests\tfailed\tbytes sent P50\treceived P50\tfirst byte P50\ttook P50\tat once\tpause before P50\tP95\t  \n")
	for _, k := range f.Kinds {
		pause, longer := "-", "-"
		if k.Gaps > 0 {
			pause, longer = figure.Duration(float64(k.Thinking)), figure.Duration(float64(k.Longer))
		}
		fmt.Fprintf(t, "%d\t%d\t%d\t%d\t%s\t%s\t%d\t%s\t%s\t  %s\n", k.Requests, k.Failed, k.Sent, k.Received,
			figure.Duration(float64(k.FirstByte)), figure.Duration(float64(k.Took)), k.Parallel, pause, longer, k.Name)
	}
	t.Flush()
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
