package load

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"

	"github.com/dewpond/dewpond/internal/measure/figure"
)

// parts returns the session, the steps and the protocols, in the order of reports.
func (r *Result) parts() []*Part {
	parts := []*Part{&r.Session}
	if r.Awake != nil {
		parts = append(parts, r.Awake)
	}
	if len(r.Steps) > 1 || r.Awake != nil { // a session of one request is that request
		for i := range r.Steps {
			parts = append(parts, &r.Steps[i])
		}
	}
	for i := range r.Protocols {
		parts = append(parts, &r.Protocols[i].Part)
	}
	return parts
}

type namedTimes struct {
	name string
	*Times
}

func (p *Part) times() []namedTimes {
	return []namedTimes{
		{"response", p.Response}, {"service", p.Service}, {"lag", p.Lag}, {"waiting", p.Waiting}, {"failed", p.FailedResponse},
	}
}

// WriteText writes the report for a terminal. What the generator did itself comes first.
func (r *Result) WriteText(w io.Writer) error {
	out := bufio.NewWriter(w)
	fmt.Fprintf(out, "%s\n%s, %s\n\n", r.Name, r.Target.URL, r.Mode)
	r.writeKnee(out)
	r.writeVerdict(out)
	times, marked := r.timesTable()
	(&table{out, times}).flush()
	if marked {
		fmt.Fprintln(out, "* generator: lag is more than a tenth of it")
	}
	fmt.Fprintln(out)
	if connections := r.connectionsTable(); len(connections) > 1 {
		(&table{out, connections}).flush()
		fmt.Fprintln(out)
	}
	if slowest := r.slowestTable(); len(slowest) > 1 {
		(&table{out, slowest}).flush()
		fmt.Fprintln(out)
	}
	if agents := r.agentsTable(); len(agents) > 1 {
		(&table{out, agents}).flush()
		fmt.Fprintf(out, "The first arrivals of the agents are within %s.\n\n", figure.Duration(r.spread()))
	}
	for _, line := range r.aboutTarget() {
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

func (r *Result) writeVerdict(out io.Writer) {
	switch {
	case r.Aborted != "":
		fmt.Fprintln(out, "aborted:", r.Aborted)
	case r.Interrupted:
		fmt.Fprintln(out, "interrupted: this is what was measured until then")
	}
	if !r.Valid {
		fmt.Fprintln(out, "not valid:", strings.Join(r.Why, "; "))
	}
	for _, line := range r.summary() {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out)
}

// summary returns the counts, what the generator did, and the errors.
func (r *Result) summary() []string {
	var counts, generator strings.Builder
	fmt.Fprintf(&counts, "offered %d, started %d, finished %d, failed %d, dropped %d", r.Offered, r.Started, r.Finished, r.Failed, r.Dropped)
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
func (r *Result) timesTable() (rows [][]string, marked bool) {
	head := []string{"", "", "requests", "failed", "mean"}
	for _, p := range percentiles {
		head = append(head, p.label)
	}
	rows = append(rows, append(head, "max"))
	for _, p := range r.parts() {
		name, requests, failed := p.Name, strconv.FormatUint(p.Requests, 10), strconv.FormatUint(p.Failed, 10)
		for _, times := range p.times() {
			if times.Samples == 0 || (times.name == "waiting" && p.Waited == 0) {
				continue
			}
			row := []string{name, times.name, requests, failed, figure.Duration(times.Mean)}
			for _, q := range percentiles {
				text := cell(*q.in(times.Times))
				if times.name == "response" && slices.Contains(p.Generator, q.key+"_ns") {
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
func (r *Result) connectionsTable() [][]string {
	rows := [][]string{{"", "connections", "handshakes", "requests each", "reuse", "waited", "connect P50", "P99", "max"}}
	for _, p := range r.Protocols {
		if p.Connections > 0 {
			rows = append(rows, []string{
				p.Name, strconv.FormatUint(p.Connections, 10), strconv.FormatUint(p.Handshakes, 10), figure.Count(p.PerConn),
				figure.Percent(p.Reuse), strconv.FormatUint(p.Waited, 10), cell(p.Connecting.P50), cell(p.Connecting.P99), figure.Duration(p.Connecting.Max),
			})
		}
	}
	return rows
}

// agentsTable has the agents, whose clocks are those of their machines.
func (r *Result) agentsTable() [][]string {
	rows := [][]string{{"agent", "started", "finished", "clock ahead by", "first arrival later by", "lost at", "late results"}}
	for _, a := range r.Agents {
		lost := "-"
		if a.LostAt != nil {
			lost = figure.Significant(*a.LostAt) + " s"
		}
		rows = append(rows, []string{
			a.Name, strconv.FormatUint(a.Started, 10), strconv.FormatUint(a.Finished, 10), figure.Duration(a.Offset), figure.Duration(a.First), lost, strconv.FormatUint(a.Late, 10),
		})
	}
	return rows
}

// spread returns how far the first arrivals of the agents are apart, in nanoseconds.
func (r *Result) spread() (ns float64) {
	for _, a := range r.Agents {
		ns = max(ns, a.First)
	}
	return ns
}

// gap is how many spaces there are between columns.
const gap = 2

// A table has its first column at the left, and the others at the right.
type table struct {
	out  io.Writer
	rows [][]string
}

func newTable(out io.Writer) *table { return &table{out: out} }

func (t *table) row(cells ...string) { t.rows = append(t.rows, cells) }

func (t *table) flush() {
	for _, line := range t.lines() {
		fmt.Fprintln(t.out, line)
	}
}

func (t *table) lines() []string {
	first := 0
	for _, r := range t.rows {
		first = max(first, len(r[0]))
	}
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, gap, ' ', tabwriter.AlignRight)
	for _, r := range t.rows {
		fmt.Fprintf(w, "%-*s", first, r[0])
		for _, c := range r[1:] {
			fmt.Fprint(w, "\t", c)
		}
		fmt.Fprint(w, "\t\n")
	}
	w.Flush()
	var lines []string
	for line := range strings.Lines(text.String()) {
		lines = append(lines, strings.TrimRight(line[gap:], " \n")) // without the gap before the first column
	}
	return lines
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
