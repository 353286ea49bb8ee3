package main

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/workload"
)

// ending is the end of every help text.
const ending = `
Ctrl-C or SIGTERM ends the run and reports what was measured until then.

Exit codes: 0 done, 1 failure, 2 wrong usage, 130 Ctrl-C, 143 SIGTERM.
`

// Help returns the help of dewpond bench, besides the scenarios.
func (*benchCommand) Help() string {
	var s strings.Builder
	s.WriteString("Measures pools side by side. Every round of every contender runs in a process of its own, " +
		"the contenders take turns, and their figures are compared round by round with syncpool-class, the best honest use of sync.Pool, " +
		"and with nop, a control without a pool: its cost is that of the driver and the machine.\n\n" +
		"Without a scenario it is a tour: short rounds of seven scenarios in about 100 s, and the answers on one screen. " +
		"To run one scenario with all its contenders and figures, name it: dewpond bench micro. " +
		"Each scenario has its own flags, which stand behind it: dewpond bench micro --help.\n\nContenders:\n\n")
	for _, c := range contender.All() {
		list(&s, c.Name, c.About)
	}
	s.WriteString(`
Examples:

    # is a pool worth it here?
    dewpond bench
    # every figure of the tour
    dewpond bench --full
    # charts, and every figure
    dewpond bench --html report.html --json figures.json
    # nanoseconds of Get and Put; the tools
    dewpond bench micro
    # what survives the collector?
    dewpond bench burst --collections 5
    # does decay show in the tail?
    dewpond bench churn --html report.html
    # what does a burst beyond 64 MiB cost?
    dewpond bench beyond
    # what does a bound cost, and save?
    dewpond bench flood
    # how much misuse is found?
    dewpond bench misuse
    # beside sync.Pool, mcache, bytebufferpool, bpool
    dewpond bench rivals
`)
	return s.String() + ending
}

// teach returns the help of a scenario, besides its flags.
func teach(s workload.Scenario, examples string) string {
	first, size := utf8.DecodeRuneInString(s.About)
	full, quick := defaultPlan(s, false), defaultPlan(s, true)
	return fmt.Sprintf("%c%s\n\nThese contenders take part by default: %s (dewpond bench --help describes them). Each has %s; with --quick, %s.\n\nExamples:\n%s%s",
		unicode.ToUpper(first), s.About[size:], strings.Join(full.contenders, ", "), full.length(), quick.length(), examples, ending)
}

// length describes the rounds of a plan, such as "6 rounds of 1s".
func (p plan) length() string {
	rounds := fmt.Sprintf("%d rounds", p.rounds)
	if p.rounds == 1 {
		rounds = "1 round"
	}
	return rounds + " of " + short(p.spec.Duration)
}

// list writes an indented entry, which kong does not reflow.
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
