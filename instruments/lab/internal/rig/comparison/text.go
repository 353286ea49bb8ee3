package comparison

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/columns"

	"github.com/dewpond/dewpond/instruments/lab/internal/rig/variant"
)

var head = []string{
	"variant", "req/s, closed", "to before", "P50", "P99", "P999", "errors", "scorer conns/req", "db made/req", "db waited/req",
	"GC/10k", "GC CPU", "stop mean", "longest", "allocs/req", "B/req", "peak RSS",
}

// cells are a row, as head has it.
func cells(r Row) []string {
	to := "-"
	if ratio, ok := r.Ratios["throughput"]; ok {
		to = bracketed(ratio)
	}
	return []string{
		r.Variant, whole(r.Throughput.Median), to,
		ms(r.Response.P50), ms(r.Response.P99), ms(r.Response.P999), fmt.Sprint(r.Response.Errors),
		share(r.ScorerConnections), share(r.DB.Made), share(r.DB.Waited),
		fmt.Sprintf("%.1f", r.GCPer10k), fmt.Sprintf("%.1f %%", 100*r.GCShare), us(r.StopMean), us(r.StopLongest),
		whole(r.Allocs), whole(r.Bytes), fmt.Sprintf("%.0f MiB", r.RSS/(1<<20)),
	}
}

func (r Report) title() []string {
	kind := "servers"
	if r.StandIn {
		kind = "stand-in: its costs are not a database's"
	}
	return []string{
		fmt.Sprintf("What each measure is worth: %d rounds of each, interleaved, on %s, %d processors, %s, %s", r.Rounds, r.Environment.Machine, r.Environment.CPUs, r.Environment.GoVersion, r.Environment.Time),
		fmt.Sprintf("Backends: %s (%s)", r.Backends, kind),
		fmt.Sprintf("Throughput is of a closed loop of %d: the service sets the rate. P50, P99 and P999 are from the intended start, at %.0f requests a second for all.", r.Users, r.Rate),
		fmt.Sprintf("The pool model gives %d connections to the database.", r.Connections),
	}
}

// foot is what stands below the table.
func (r Report) foot() []string {
	out := []string{fmt.Sprintf("Load average at the start: %.2f.", r.Environment.LoadAverage[0])}
	for _, row := range r.Rows {
		law := "passes Little's law"
		if !row.Little.Holds {
			law = "DOES NOT PASS Little's law"
		}
		out = append(out, fmt.Sprintf("%s: service %s, backends %s, generator %s of the processors; lag P99 %s; %s (%s a second times %.2f ms is %.1f of %.0f).",
			row.Variant, percent(row.CPU.Service), percent(row.CPU.Backends), percent(row.CPU.Generator), lag(row.Lag),
			law, whole(row.Little.Rate), row.Little.Mean/1e6, row.Little.Says, row.Little.Users))
		if row.Variant == variant.AsPublished {
			out = append(out, row.Variant+" is "+row.About+".")
		}
		if len(row.Why) > 0 {
			out = append(out, row.Variant+" is not valid: "+row.Why[0])
		}
	}
	return out
}

// table has a head and a row for each variant.
func (r Report) table() [][]string {
	rows := [][]string{head}
	for _, row := range r.Rows {
		rows = append(rows, cells(row))
	}
	return rows
}

// WriteText writes the report for a terminal.
func (r Report) WriteText(w io.Writer) error {
	out := new(strings.Builder)
	for _, line := range r.title() {
		fmt.Fprintln(out, line)
	}
	fmt.Fprintln(out)
	columns.Write(out, r.table())
	fmt.Fprintln(out)
	for _, line := range append(r.foot(), append([]string{""}, r.Words...)...) {
		fmt.Fprintln(out, line)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// WriteMarkdown writes the report as Markdown.
func (r Report) WriteMarkdown(w io.Writer) error {
	out := new(strings.Builder)
	for _, line := range r.title() {
		fmt.Fprintln(out, line+"\n")
	}
	columns.Markdown(out, r.table())
	fmt.Fprintln(out)
	for _, line := range append(r.foot(), r.Words...) {
		fmt.Fprintln(out, "- "+line)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// WriteJSON writes every figure.
func (r Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "\t")
	return e.Encode(r)
}

func whole(f float64) string { return fmt.Sprintf("%.0f", f) }

func share(f float64) string { return fmt.Sprintf("%.4f", f) }

func percent(share float64) string {
	if share < 0 {
		return "?"
	}
	return fmt.Sprintf("%.0f %%", 100*share)
}

func ms(ns *float64) string {
	if ns == nil {
		return "few samples"
	}
	return fmt.Sprintf("%.2f ms", *ns/1e6)
}

func lag(ns *float64) string {
	if ns == nil {
		return "of few samples"
	}
	return us(*ns)
}

func us(ns float64) string { return fmt.Sprintf("%.0f µs", ns/1e3) }
