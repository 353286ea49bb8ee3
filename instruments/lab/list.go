package main

import (
	"fmt"
	"io"
	"time"

	"github.com/dewpond/dewpond/instruments/kit/terminal"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
)

// list writes the experiments with their claims, and how long they take.
func list(w io.Writer, all []experiment.Experiment, style terminal.Style) {
	var full, quick time.Duration
	for _, e := range all {
		full, quick = full+e.Time(false), quick+e.Time(true)
		fmt.Fprintln(w, style.Bold(fmt.Sprintf("%-16s", e.ID))+" "+about(e.Time(false), e.Time(true)))
		fmt.Fprintln(w, terminal.Wrap("  ", e.Question, style.Width))
		for i, c := range e.Claims {
			if i == 0 || c.Publication != e.Claims[i-1].Publication {
				fmt.Fprintln(w, terminal.Wrap("  ", "Claimed by "+c.Publication.String()+":", style.Width))
			}
			fmt.Fprintln(w, terminal.Wrap("  - ", c.Text, style.Width))
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "All take %s. Run some: lab ID... or lab all, with --quick for a first look.\n", about(full, quick))
}

func about(full, quick time.Duration) string {
	return fmt.Sprintf("about %v, --quick %v", rounded(full), rounded(quick))
}

func rounded(d time.Duration) time.Duration { return max(d.Round(time.Second), time.Second) }
