package advice

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/evidence"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/model"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pools"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/plain"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// Of the sites that are not advised the text has the first ones, of which each has a part of the bytes.
const (
	mostRows  = 10
	leastPart = 0.005
)

// leastShown is how much of the collector's CPU a site saves that is shown, with why it is not worth a pool, where none is.
const leastShown = 0.05

// Text writes the answer for people.
func Text(w io.Writer, d Document, style terminal.Style) error {
	var out strings.Builder
	paragraph := func(text string) { out.WriteString(terminal.Wrap("", plain.Line(text), style.Width) + "\n") }

	paragraph(d.Collector.text() + d.allocation())
	for _, note := range d.Notes {
		paragraph(note)
	}
	if d.Verdict == Nothing && (d.unfelt() || !d.worth(leastShown)) {
		out.WriteByte('\n')
		paragraph(d.nothing())
		d.writePools(&out, style)
		_, err := io.WriteString(w, out.String())
		return err
	}
	out.WriteByte('\n')
	rows := [][]string{{"", "bytes/s", "objects/s", "life", "samples", "collector CPU then", "site", "advice"}}
	shown := map[int]bool{}
	for i, s := range d.Sites {
		if !s.Advised() && (len(shown)-len(d.Together.Sites) >= mostRows || s.share.Mid < leastPart) {
			continue
		}
		shown[i] = true
		number := "-"
		if s.Advised() {
			number = fmt.Sprint(i + 1)
		}
		rows = append(rows, []string{number, short(s.BytesPerSecond, figure.ByteSize), figure.Count(s.ObjectsPerS.Mid), s.life(), fmt.Sprint(s.Samples), s.saving(), s.place(), s.told()})
	}
	for _, line := range table(rows) {
		out.WriteString(plain.Line(line) + "\n")
	}
	if left := len(d.Sites) - len(shown); left > 0 {
		paragraph(fmt.Sprintf("... and %s with less; --json FILE has them.", figure.Several(left, "site")))
	}
	for i, s := range d.Sites {
		if s.Advised() {
			out.WriteByte('\n')
			out.WriteString(terminal.Wrap(fmt.Sprintf("%d: ", i+1), plain.Line(s.Why), style.Width) + "\n")
			if s.Declare != "" {
				out.WriteString("   " + plain.Line(s.Declare) + "\n")
			}
			out.WriteString("   " + plain.Line(s.Options) + "\n")
		}
		if len(s.Stack) > 0 && shown[i] {
			out.WriteString("   " + plain.Line(s.place()) + "\n")
		}
		for _, frame := range s.Stack {
			if !shown[i] {
				break
			}
			out.WriteString("      from " + plain.Line(frame) + "\n")
		}
	}
	out.WriteByte('\n')
	paragraph(d.closing())
	d.writePools(&out, style)
	_, err := io.WriteString(w, out.String())
	return err
}

// writePools writes what was seen of the pools that the program has.
func (d Document) writePools(out *strings.Builder, style terminal.Style) {
	if len(d.Pools) == 0 {
		return
	}
	out.WriteString("\n")
	rows := [][]string{{"pools that are there", "gets", "hits", "dropped", "idle", "in use"}}
	for _, p := range d.Pools {
		hits := "-"
		if p.Gets > 0 {
			hits = figure.Percent(p.Hits / p.Gets)
		}
		rows = append(rows, []string{p.Name, figure.Count(p.Gets), hits, figure.Count(p.Dropped), figure.ByteSize(p.Idle), figure.ByteSize(p.InUse)})
	}
	for _, line := range columns.Lines(rows) {
		out.WriteString(plain.Line(line) + "\n")
	}
	for _, p := range d.Pools {
		for _, f := range p.Findings {
			out.WriteString(terminal.Wrap("  "+plain.Line(p.Name)+": ", plain.Line(f.Finding+". Change: "+f.Option+"."), style.Width) + "\n")
		}
	}
	for _, p := range d.Pools {
		if s := p.Sampled; s != nil {
			out.WriteString(terminal.Wrap("  "+plain.Line(p.Name)+", of those that checked mode watches: ", plain.Line(sampled(*s)), style.Width) + "\n")
		}
	}
}

// sampled says how long objects are out and idle, and what sizes are asked for.
func sampled(s pools.Sampled) string {
	seconds := func(v float64) string { return figure.Duration(v * 1e9) }
	text := "out " + quantiles(s.Out, seconds) + "; idle " + quantiles(s.Idle, seconds)
	if s.Asked == nil {
		return text + "."
	}
	text += "; sizes asked for " + quantiles(*s.Asked, figure.ByteSize) + "."
	if s.Cap > 0 {
		text += fmt.Sprintf(" A cap of %s holds nine of ten: begin with Get(%.0f)[:0] where the size is not known, or with a BodyPool, which learns it.", figure.ByteSize(s.Cap), s.Cap)
	}
	return text
}

func quantiles(q pools.Quantiles, format func(float64) string) string {
	if !q.P50.Known() {
		return q.P50.Text(format)
	}
	return fmt.Sprintf("P50 %s, P90 %s (%.0f watched)", q.P50.Text(format), q.P90.Text(format), q.Watched)
}

// table is columns.Lines with the first column and the last two at the left.
func table(rows [][]string) []string {
	figures, words := make([][]string, len(rows)), make([][]string, len(rows))
	for i, row := range rows {
		figures[i], words[i] = row[:len(row)-2], row[len(row)-2:]
	}
	widths := columns.Widths(words)
	all := make([][]string, len(rows))
	for i := range rows {
		remark := words[i][0] + strings.Repeat(" ", max(0, widths[0]-len([]rune(words[i][0])))) + columns.Gap + words[i][1]
		all[i] = append(figures[i][:len(figures[i]):len(figures[i])], remark)
	}
	return columns.Remarked(all)
}

// short is an estimate in a table, where what cannot be told is a word.
func short(e estimate.Estimate, format func(float64) string) string {
	if !e.Known() {
		return "cannot tell"
	}
	unit := ""
	text := e.Text(func(v float64) string {
		number, of, _ := strings.Cut(format(v), " ")
		if unit == "" {
			unit = of
		}
		if of == unit || v == 0 {
			return number
		}
		return number + " " + of
	})
	number, interval, ok := strings.Cut(text, " [")
	if !ok {
		return format(e.Mid)
	}
	return strings.TrimSpace(number+" "+unit) + " [" + interval
}

func (s Site) life() string {
	switch {
	case s.MeanLifeBelow > 0:
		return "below " + figure.Duration(s.MeanLifeBelow*1e9)
	case s.MeanLife == nil || !s.MeanLife.Known():
		return "cannot tell"
	}
	return short(s.MeanLife.Scaled(1e9), figure.Duration)
}

// saving says by how much the collector's CPU falls.
func (s Site) saving() string {
	if !s.CollectorCPU.Known() {
		return "cannot tell"
	}
	e := s.CollectorCPU
	return fmt.Sprintf("%+.0f %% [%+.0f, %+.0f]", clean(-100*e.Mid), clean(-100*e.High), clean(-100*e.Low))
}

// clean returns 0 for what rounds to it from below, which would have a minus sign.
func clean(v float64) float64 {
	if math.Abs(v) < 0.5 {
		return 0
	}
	return v
}

func (s Site) place() string {
	file := s.File
	if at := strings.LastIndexAny(file, `/\`); at >= 0 {
		file = file[at+1:]
	}
	return fmt.Sprintf("%s:%d %s", file, s.Line, s.key.Name())
}

// told is the advice in a cell: the tool, or the reason for none.
func (s Site) told() string {
	if s.Advised() {
		return s.Advice
	}
	return s.Advice + ": " + s.Why
}

func (c Collector) text() string {
	var parts []string
	parts = append(parts, "collector: "+perSecond(c.PerSecond)+" ("+figure.Several(int(c.Collections), "collection")+")")
	if !c.PerSecond.Known() {
		parts[0] = "collector: collections " + c.PerSecond.Text(nil)
	}
	if c.Forced > 0 {
		parts = append(parts, fmt.Sprintf("%d more that the program has asked for", c.Forced))
	}
	if c.CPUShare.Known() {
		parts = append(parts, percent(c.CPUShare)+" of the CPU ("+c.CPUFrom+")")
	} else {
		parts = append(parts, "share of the CPU not known ("+c.CPUShare.Why+")")
	}
	if c.Live.Known() {
		parts = append(parts, "live "+short(c.Live, figure.ByteSize))
	}
	if c.Goal.Known() {
		parts = append(parts, "goal "+short(c.Goal, figure.ByteSize))
	}
	gogc, limit := "GOGC "+figure.Significant(c.GOGC), "no memory limit"
	if c.GOGC == model.Off {
		gogc = "GOGC off"
	}
	if c.Limit > 0 {
		limit = "memory limit " + figure.ByteSize(c.Limit)
	}
	if !c.SettingKnown {
		parts = append(parts, fmt.Sprintf("as if %s and %s (if that is not so, give --gogc and --memory-limit)", gogc, limit))
	} else {
		parts = append(parts, gogc, limit)
	}
	return strings.Join(parts, ", ")
}

// allocation says what allocating takes.
func (d Document) allocation() string {
	if !d.Allocation.Known() {
		return ""
	}
	return "; allocation: " + percent(d.Allocation) + " of the CPU used"
}

// percent is a share with its interval: "20 % [15, 25]".
func percent(e estimate.Estimate) string { return short(e, figure.Percent) }

func perSecond(e estimate.Estimate) string {
	return e.Text(figure.Significant) + " collections/s"
}

func (d Document) nothing() string {
	if d.unfelt() {
		return fmt.Sprintf("A pool would buy nothing that you could feel: the collector and allocation together take %s of the CPU used, which is less than %s.",
			percent(d.cpu()), figure.Percent(felt))
	}
	return "Nothing that allocates here is worth a pool. --json FILE has each site and why."
}

func (d Document) closing() string {
	var b strings.Builder
	switch {
	case d.Verdict == Limit:
		fmt.Fprintf(&b, "%s of the memory limit of %s live: the collector will take up to half of the CPU before memory runs out. In this order: a larger limit, fewer idle bytes, less work taken on (package pressure, OnPressure). A pool's idle bytes take more of that room. ",
			figure.Percent(d.Collector.Live.Mid/d.Collector.Limit), figure.ByteSize(d.Collector.Limit))
	case d.unsure != "":
		b.WriteString(d.unsure)
	case d.Verdict == CannotTell:
		b.WriteString("Whether a pool would be felt cannot be told: ask the URL of the program, or give a CPU profile and what heap?debug=1 answers as well. ")
	}
	if n := len(d.Together.Sites); n == 0 {
		if d.unsure == "" {
			b.WriteString("No site is worth a pool. ")
		}
	} else {
		if d.Together.PerSecond.Known() {
			fmt.Fprintf(&b, "%s: %s instead of %s. ", d.Together.names(), perSecond(d.Together.PerSecond), figure.Significant(d.Collector.PerSecond.Mid))
		}
		if idle := d.Together.Idle; idle.Known() && idle.Mid > 0 {
			fmt.Fprintf(&b, "Idle they would hold about %s. ", short(idle, figure.ByteSize))
		} else if idle.Known() {
			fmt.Fprintf(&b, "Idle they would hold less than %s. ", figure.ByteSize(idle.High))
		}
		if !slices.ContainsFunc(d.Sites, func(s Site) bool { return s.Advice == string(evidence.Unknown) }) {
			b.WriteString("Pooling the rest is not worth your time. ")
		}
		b.WriteString("Bounds that a profile cannot know are at their defaults: watch the pool's drops as full and its idle bytes. ")
	}
	fmt.Fprintf(&b, "Sizes are those that Go allocates, not those that were asked for. One block in %s was sampled, in %s.", figure.ByteSize(float64(d.Rate)), figure.Duration(d.Seconds*1e9))
	return strings.TrimSpace(b.String())
}

func (t Together) names() string {
	var names []string
	for _, n := range t.Sites {
		names = append(names, fmt.Sprint(n))
	}
	if len(names) == 1 {
		return names[0]
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " together"
}
