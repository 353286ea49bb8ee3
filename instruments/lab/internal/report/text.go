package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/terminal"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// Text writes each finding for a terminal, and the verdicts of all at the end.
func Text(w io.Writer, r Report, style terminal.Style) error {
	out := bufio.NewWriter(w)
	for _, o := range r.Outcomes {
		fmt.Fprintln(out, style.Bold(terminal.Wrap("", o.ID+": "+o.Question, style.Width)))
		for i, f := range o.Findings {
			c := o.Claims[i]
			fmt.Fprintln(out)
			field := func(name, text string) {
				fmt.Fprintln(out, terminal.Wrap(fmt.Sprintf("  %-8s ", name), text, style.Width))
			}
			field("claim", c.Text+": "+c.Publication.String())
			field("here", f.Measured)
			field("control", f.Control)
			fmt.Fprintln(out, "  verdict  "+painted(f.Verdict, style))
			field("why", f.Why)
			if f.Arithmetic != "" {
				field("since", f.Arithmetic)
			}
			field("do", f.Do)
		}
		for _, name := range slices.Sorted(maps.Keys(o.Measured.Absent)) {
			label, why := "  failed   ", o.Measured.Absent[name]
			if reason, skipped := strings.CutPrefix(why, experiment.Skipped); skipped {
				label, why = "  skipped  ", reason
			}
			fmt.Fprintln(out, terminal.Wrap(label, name+": "+why, style.Width))
		}
		fmt.Fprintln(out)
	}
	fmt.Fprintln(out, terminal.Wrap("", r.Summary()+".", style.Width))
	fmt.Fprintln(out, terminal.Wrap("", r.machine()+".", style.Width))
	return out.Flush()
}

func painted(v experiment.Verdict, style terminal.Style) string {
	switch v {
	case experiment.Reproduced:
		return style.Green(string(v))
	case experiment.NotReproduced, experiment.Inconsistent, experiment.Impossible:
		return style.Red(string(v))
	}
	return style.Bold(string(v))
}
