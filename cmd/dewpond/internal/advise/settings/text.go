package settings

import (
	"fmt"
	"io"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/estimate"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/advise/pacer"
	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/plain"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// Text writes the answer for people.
func Text(w io.Writer, d Document, style terminal.Style) error {
	var out strings.Builder
	paragraph := func(text string) { out.WriteString(terminal.Wrap("", plain.Line(text), style.Width) + "\n") }
	paragraph(d.collector())
	if d.Broken > 0 {
		paragraph(fmt.Sprintf("%s of gctrace could not be read, because other output fell into them; by the numbers of the others they are counted.", figure.Several(int(d.Broken), "line")))
	}
	out.WriteByte('\n')
	rows := [][]string{{"", "collections/s", "of one CPU", "peak of the heap"}}
	why := ""
	for _, row := range d.Rows {
		name := "  " + Name(row)
		if row.Now {
			name = "> " + Name(row)
		}
		cells := []string{name}
		for _, c := range []struct {
			e      estimate.Estimate
			format func(float64) string
		}{{row.Collections, perSecond}, {row.Collector, figure.Percent}, {row.Peak, figure.ByteSize}} {
			text := "cannot tell"
			if c.e.Known() {
				text = c.e.Text(c.format)
			} else {
				why = c.e.Why
			}
			cells = append(cells, text)
		}
		rows = append(rows, cells)
	}
	for _, line := range columns.Lines(rows) {
		out.WriteString(line + "\n")
	}
	if why != "" {
		paragraph("cannot tell: " + why)
	}
	for _, text := range d.Advice {
		out.WriteByte('\n')
		paragraph(text)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// Name is how a row's setting is written.
func Name(row pacer.Row) string {
	name := fmt.Sprintf("GOGC=%d", row.GOGC)
	if row.GOGC < 0 {
		name = "GOGC=off"
	}
	if row.Limit > 0 {
		name += ", limit " + figure.ByteSize(float64(row.Limit))
	}
	return name
}

func perSecond(v float64) string { return figure.Significant(v) }

// collector says how much the collector works now.
func (d *Document) collector() string {
	c := d.Collector
	text := fmt.Sprintf("collector: %s collections/s", c.PerSecond.Text(perSecond))
	if d.PerRequest.Known() && d.PerRequest.Mid > 0 {
		text += fmt.Sprintf(" (one for %s requests)", figure.Count(1/d.PerRequest.Mid))
	}
	switch {
	case c.CPUShare.Known():
		text += ", " + c.CPUShare.Text(figure.Percent) + " of the CPU used"
	case c.CPU.Known():
		text += ", " + c.CPU.Text(figure.Percent) + " of one CPU"
	}
	text += fmt.Sprintf(", live %s, goal %s, ", c.Live.Text(figure.ByteSize), c.Goal.Text(figure.ByteSize))
	if !c.Known {
		text += "as if "
	}
	if c.GOGC < 0 {
		text += "GOGC off"
	} else {
		text += fmt.Sprintf("GOGC %d", c.GOGC)
	}
	if c.Limit > 0 {
		text += ", memory limit " + figure.ByteSize(float64(c.Limit))
	} else {
		text += ", no memory limit"
	}
	text += fmt.Sprintf(" (%s, %d collections in %s s", d.From, c.Collections, figure.Significant(d.Seconds))
	if c.Forced > 0 {
		text += fmt.Sprintf(", and %d that the program asked for", c.Forced)
	}
	return text + ")"
}
