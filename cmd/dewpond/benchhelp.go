package main

import (
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
)

// Help is what dewpond bench --help teaches beside the flags.
func (*benchCommand) Help() string {
	var s strings.Builder
	s.WriteString("Measures pools side by side. Every round of every contender runs in a process of its own, " +
		"the contenders take turns, and figures are compared round by round with syncpool-class, the best honest use of sync.Pool, " +
		"and with nop, a control that has no pool: what nop costs is the driver's and the machine's, not a pool's.\n\n" +
		"By itself it runs mixed, 6 rounds, in about 80 s. Another scenario is named first: dewpond bench micro. " +
		"(--scenario micro is the same.)\n\nScenarios:\n\n")
	for _, sc := range scenarios() {
		list(&s, sc.Name, sc.About)
	}
	s.WriteString("\nContenders:\n\n")
	for _, c := range contender.All() {
		list(&s, c.Name, c.About)
	}
	s.WriteString(`
Examples:

    dewpond bench                                            is a pool worth it here?
    dewpond bench --quick --contenders nop,make,dewpond      a first look, no verdict
    dewpond bench micro                                      nanoseconds of Get and Put; the tools
    dewpond bench burst --collections 5                      what survives the collector?
    dewpond bench burst --idle-timeout 500ms --duration 6s   what stays when a burst is over?
    dewpond bench churn --html report.html                   does decay show in the tail?
    dewpond bench soak --duration 1h                         does anything grow, or stay behind?
    dewpond bench --hold yield --goroutines 2000             many blocks out at once
    dewpond bench --mode open --rate 100000                  with waiting counted in
    dewpond bench --html report.html --json figures.json     charts, and every figure

Ctrl-C ends the run and reports what was measured until then.

Exit codes: 0 done, 1 failure (also: soak found what is not flat), 2 what cannot be meant, 130 interrupted.
`)
	return s.String()
}

// list writes an indented entry, which kong shows as it stands.
func list(s *strings.Builder, name, about string) {
	const indent, column, width = "    ", 16, 74
	line := name + strings.Repeat(" ", max(1, column-len(name)))
	for _, word := range strings.Fields(about) {
		if len(line)+len(word) > width && strings.TrimSpace(line) != "" {
			s.WriteString(indent + strings.TrimRight(line, " ") + "\n")
			line = strings.Repeat(" ", column)
		}
		line += word + " "
	}
	s.WriteString(indent + strings.TrimRight(line, " ") + "\n")
}
