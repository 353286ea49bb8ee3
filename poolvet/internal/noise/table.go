package main

import (
	"fmt"
	"os"
	"strings"
)

// A table is a committed file whose first line names its columns. Every other line has as many cells,
// with tabs between them.
type table struct{ columns []string }

var (
	findings = table{[]string{"module", "version", "place", "check", "verdict", "why"}}
	losses   = table{[]string{"module", "version", "packages", "file", "function", "report", "found", "why"}}
)

// read returns the lines without the first. A line of other columns is an error: whatever were made of
// it, its verdict would be lost at the next -update.
func (t table) read(name string) (rows [][]string, err error) {
	data, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	first := true
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSuffix(line, "\n")
		switch cells := strings.Split(line, "\t"); {
		case first && line != strings.Join(t.columns, "\t"):
			return nil, fmt.Errorf("%s: the first line is %q, and the columns are %s", name, line, strings.Join(t.columns, ", "))
		case len(cells) != len(t.columns):
			return nil, fmt.Errorf("%s: %q has not the columns %s", name, line, strings.Join(t.columns, ", "))
		case !first:
			rows = append(rows, cells)
		}
		first = false
	}
	return rows, nil
}

func (t table) write(name string, rows [][]string) error {
	text := strings.Join(t.columns, "\t") + "\n"
	for _, cells := range rows {
		text += strings.Join(cells, "\t") + "\n"
	}
	return os.WriteFile(name, []byte(text), 0o644)
}
