// Package report writes for people what package load has measured: a [load.Result] as text, as a page
// with charts and as files for HdrHistogram's plotter, several of them as a [Comparison], and a
// [load.Mixing].
//
// Each table and chart is in a file beside this one; text and page have the same.
package report

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/load"
)

// WriteText writes the report for a terminal. What the generator did itself comes first.
func WriteText(w io.Writer, r *load.Result) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n%s, %s\n\n", r.Name, r.Target.URL, r.Mode)
	writeKnee(out, r)
	writeVerdict(out, r)
	times, marked := timesTable(r)
	columns.Write(out, times)
	if marked {
		fmt.Fprintln(out, "* generator: lag is more than a tenth of it")
	}
	fmt.Fprintln(out)
	if len(r.Stages) > 0 {
		columns.Write(out, stagesTable(r))
		fmt.Fprintln(out)
		for _, line := range columns.Remarked(courseTable(r)) {
			fmt.Fprintln(out, line)
		}
		fmt.Fprintln(out)
	}
	if statuses := statusesTable(r); len(statuses) > 1 {
		columns.Write(out, statuses)
		fmt.Fprintln(out)
	}
	if connections := connectionsTable(r); len(connections) > 1 {
		columns.Write(out, connections)
		fmt.Fprintln(out)
	}
	if slowest := slowestTable(r); len(slowest) > 1 {
		columns.Write(out, slowest)
		fmt.Fprintln(out)
	}
	if agents := agentsTable(r); len(agents) > 1 {
		columns.Write(out, agents)
		fmt.Fprintf(out, "The first arrivals of the agents are within %s.\n\n", figure.Duration(spread(r)))
	}
	for _, line := range aboutTarget(r) {
		fmt.Fprintln(out, line)
	}
	for _, v := range r.Thresholds {
		kept := "kept  "
		if !v.OK {
			kept = "MISSED"
		}
		fmt.Fprintf(out, "%s  %s: %s\n", kept, v.Text, v.Shown)
	}
	if len(r.Thresholds) > 0 {
		fmt.Fprintln(out)
	}
	if r.Digest != "" {
		fmt.Fprintln(out, "arrivals", r.Digest)
	}
	if r.RunID != "" {
		fmt.Fprintln(out, "run     ", r.RunID)
	}
	if len(r.Command) > 0 {
		fmt.Fprintln(out, "command ", strings.Join(quoted(r.Command), " "))
	}
	return out.Flush()
}

func writeVerdict(out io.Writer, r *load.Result) {
	switch {
	case r.Aborted != "":
		fmt.Fprintln(out, "aborted:", r.Aborted)
	case r.Interrupted:
		fmt.Fprintln(out, "interrupted: this is what was measured until then")
	}
	if !r.Valid {
		fmt.Fprintln(out, "not valid:", strings.Join(r.Why, "; "))
	}
	if r.Overload != "" {
		fmt.Fprintln(out, "overload: the target", r.Overload)
	}
	for _, line := range summaryLines(r) {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out)
}

// summaryLines returns the counts, what the generator did, and the errors.
func summaryLines(r *load.Result) []string {
	var counts, generator strings.Builder
	fmt.Fprintf(&counts, "offered %d, started %d, finished %d, failed %d, dropped %d", r.Offered, r.Started, r.Finished, r.Failed, r.Dropped)
	if r.NotMade > 0 {
		fmt.Fprintf(&counts, ", not made, or not told of, %d", r.NotMade)
	}
	if r.Cut > 0 {
		fmt.Fprintf(&counts, ", cut %d", r.Cut)
	}
	if r.Seconds > 0 {
		fmt.Fprintf(&counts, " in %s s: %s/s finished", figure.Significant(r.Seconds), figure.Count(float64(r.Finished)/r.Seconds))
	}
	g := r.Generator
	fmt.Fprintf(&generator, "generator: lag P50 %s, P99 %s, P999 %s; ", cell(r.Session.Lag.P50), cell(r.Session.Lag.P99), cell(r.Session.Lag.P999))
	if g.CPUShare >= 0 {
		processors := "the processors" // of several machines
		if n := r.Environment.GOMAXPROCS; n > 0 {
			processors = fmt.Sprintf("%d processors", n)
		}
		fmt.Fprintf(&generator, "%s of %s; ", figure.Percent(g.CPUShare), processors)
	}
	fmt.Fprintf(&generator, "%d collections", g.Collections)
	if g.Pauses > 0 {
		fmt.Fprintf(&generator, ", longest pause %s", figure.Duration(g.LongestPause))
	}
	if r.Target.Shared {
		fmt.Fprint(&generator, "; the target shares this machine")
	}
	lines := []string{counts.String(), generator.String()}
	for _, kind := range slices.Sorted(maps.Keys(r.Errors)) {
		if kind == load.BadStatus {
			lines = append(lines, badStatusLines(r)...)
			continue
		}
		lines = append(lines, fmt.Sprintf("%d errors of kind %s, such as: %s", r.Errors[kind], kind, r.Messages[kind]))
	}
	return lines
}

// cell returns a time, or a dash if there is none.
func cell(ns *float64) string {
	if ns == nil {
		return "-"
	}
	return figure.Duration(*ns)
}

// timesTable has all parts, each with its response, service and lag, and reports whether a cell is
// marked as the generator's.
func timesTable(r *load.Result) (rows [][]string, marked bool) {
	head := []string{"", "", "requests", "failed", "mean"}
	for _, p := range percentiles {
		head = append(head, p.label)
	}
	rows = append(rows, append(head, "max"))
	for _, p := range parts(r) {
		name, requests, failed := p.Name, strconv.FormatUint(p.Requests, 10), strconv.FormatUint(p.Failed, 10)
		for _, times := range timesOf(p) {
			if times.Samples == 0 || (times.name == "waiting" && p.Waited == 0) {
				continue
			}
			row := []string{name, times.name, requests, failed, figure.Duration(times.Mean)}
			for _, q := range percentiles {
				text := cell(q.of(times.Times))
				if times.name == "response" && slices.Contains(p.Generator, q.name) {
					text += "*"
					marked = true
				}
				row = append(row, text)
			}
			rows = append(rows, append(row, figure.Duration(times.Max)))
			name, requests, failed = "", "", ""
		}
		if name != "" {
			rows = append(rows, []string{name, "", requests, failed})
		}
	}
	return rows, marked
}

// connectionsTable has the protocols' connections.
func connectionsTable(r *load.Result) [][]string {
	head := []string{"", "connections", "handshakes", "requests each", "reuse", "waited", "connect P50", "P99", "max"}
	apart := slices.ContainsFunc(r.Protocols, func(p load.ProtocolPart) bool { return p.Resent+p.ClosedIdle > 0 })
	if apart {
		head = append(head, "closed idle", "sent again")
	}
	rows := [][]string{head}
	for _, p := range r.Protocols {
		if p.Connections+p.Resent+p.ClosedIdle > 0 {
			row := []string{
				p.Name, strconv.FormatUint(p.Connections, 10), strconv.FormatUint(p.Handshakes, 10), figure.Count(p.PerConn),
				figure.Percent(p.Reuse), strconv.FormatUint(p.Waited, 10), cell(p.Connecting.P50), cell(p.Connecting.P99), figure.Duration(p.Connecting.Max),
			}
			if apart {
				row = append(row, strconv.FormatUint(p.ClosedIdle, 10), strconv.FormatUint(p.Resent, 10))
			}
			rows = append(rows, row)
		}
	}
	return rows
}

// agentsTable has the agents, whose clocks are those of their machines.
func agentsTable(r *load.Result) [][]string {
	rows := [][]string{{"agent", "started", "finished", "clock ahead by", "first arrival later by", "lost at", "not made", "late results"}}
	for _, a := range r.Agents {
		lost := "-"
		if a.LostAt != nil {
			lost = figure.Significant(*a.LostAt) + " s"
		}
		rows = append(rows, []string{
			a.Name, strconv.FormatUint(a.Started, 10), strconv.FormatUint(a.Finished, 10), figure.Duration(a.Offset), figure.Duration(a.First), lost, strconv.FormatUint(a.NotMade, 10), strconv.FormatUint(a.Late, 10),
		})
	}
	return rows
}

// spread returns how far the first arrivals of the agents are apart, in nanoseconds.
func spread(r *load.Result) (ns float64) {
	for _, a := range r.Agents {
		ns = max(ns, a.First)
	}
	return ns
}

// quoted returns the arguments as a shell reads them.
func quoted(args []string) []string {
	var out []string
	for _, a := range args {
		if a == "" || strings.ContainsAny(a, " \t\n'\"\\$&|;<>()*?#~`[]{}!") {
			a = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
		out = append(out, a)
	}
	return out
}
