package attribution

import (
	"fmt"
	"io"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/columns"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/plain"
	"github.com/dewpond/dewpond/instruments/kit/terminal"
)

// Text writes the shares for people.
func Text(w io.Writer, s Shares, style terminal.Style) error {
	var out strings.Builder
	paragraph := func(text string) { out.WriteString(terminal.Wrap("", plain.Line(text), style.Width) + "\n") }
	if !s.Memory.Share.Known() {
		paragraph(fmt.Sprintf("What memory takes of %s s of processor time: %s.", figure.Significant(s.Seconds), s.Memory.Share.Text(figure.Percent)))
		_, err := io.WriteString(w, out.String())
		return err
	}
	paragraph(fmt.Sprintf("%s in %s s of processor time. Memory takes %s of it.", figure.Several(int(s.Samples), "sample"), figure.Significant(s.Seconds), s.Memory.Share.Text(figure.Percent)))
	out.WriteByte('\n')
	rows := [][]string{}
	why := ""
	for _, k := range s.Kinds {
		share := "cannot tell"
		if k.Share.Known() {
			share = k.Share.Text(figure.Percent)
		} else {
			why = k.Kind + ": cannot tell: " + k.Share.Why
		}
		rows = append(rows, []string{strings.ReplaceAll(k.Kind, "_", " "), share, k.what})
	}
	for _, line := range columns.Remarked(rows) {
		out.WriteString(line + "\n")
	}
	if why != "" {
		out.WriteByte('\n')
		paragraph(strings.ReplaceAll(why, "_", " "))
	}
	_, err := io.WriteString(w, out.String())
	return err
}
