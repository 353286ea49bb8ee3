// Package columns sets texts in columns, for a terminal or in Markdown.
package columns

import (
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Gap separates two columns.
const Gap = "  "

// Widths returns how many characters each column has. Rows may be of different lengths.
func Widths(rows [][]string) []int {
	var widths []int
	for _, row := range rows {
		for i, cell := range row {
			if i == len(widths) {
				widths = append(widths, 0)
			}
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// Padded returns the cells of a row as wide as their columns: the first is at the left of its column,
// the others are at the right.
func Padded(row []string, widths []int) []string {
	out := make([]string, len(row))
	for i, cell := range row {
		pad := strings.Repeat(" ", max(0, widths[i]-utf8.RuneCountInString(cell)))
		if i == 0 {
			out[i] = cell + pad
		} else {
			out[i] = pad + cell
		}
	}
	return out
}

// Lines returns a line for each row.
func Lines(rows [][]string) []string {
	widths := Widths(rows)
	lines := make([]string, len(rows))
	for i, row := range rows {
		lines[i] = strings.TrimRight(strings.Join(Padded(row, widths), Gap), " ")
	}
	return lines
}

// Remarked is Lines for rows whose last cells are remarks: they stand at the left.
func Remarked(rows [][]string) []string {
	figures := make([][]string, len(rows))
	for i, row := range rows {
		figures[i] = row[:len(row)-1]
	}
	widths := Widths(figures)
	lines := make([]string, len(rows))
	for i, row := range rows {
		cells := append(Padded(figures[i], widths), row[len(row)-1])
		lines[i] = strings.TrimRight(strings.Join(cells, Gap), " ")
	}
	return lines
}

// Write writes a line for each row.
func Write(w io.Writer, rows [][]string) error {
	for _, line := range Lines(rows) {
		if _, err := fmt.Fprintln(w, line); err != nil {
			return err
		}
	}
	return nil
}

// Markdown writes a table whose first row is its head.
func Markdown(w io.Writer, rows [][]string) error {
	for i, row := range rows {
		if _, err := fmt.Fprintf(w, "| %s |\n", strings.Join(row, " | ")); err != nil {
			return err
		}
		if i == 0 {
			if _, err := fmt.Fprintf(w, "|%s\n", strings.Repeat(" --- |", len(row))); err != nil {
				return err
			}
		}
	}
	return nil
}
