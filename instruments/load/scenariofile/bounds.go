package scenariofile

import (
	"fmt"
	"io"
	"slices"

	"github.com/goccy/go-yaml/token"

	"github.com/dewpond/dewpond/instruments/load"
)

// What a file may have. A scenario can come from elsewhere, and the parser takes some 600 bytes for
// each mark, and for each node the names of all that it is in: 200 KB of [ took 6 GB. So these are
// looked at before it begins.
const (
	mostBytes = 1 << 20
	mostMarks = 20_000
	mostDepth = 100
	mostPaths = 16 << 20 // bytes of the paths of all nodes
)

// bounded returns an error if the text is more than a scenario has, and otherwise how many levels
// it can have at most. It is no reader of YAML: it counts the marks in texts too, so that it never
// counts less than the parser finds.
func (f *File) bounded(data []byte) (depth int, err error) {
	if len(data) > mostBytes {
		return 0, f.beyond(1, "more than %d bytes are no scenario: draw what is long from files, as in data: {ids: {lines: FILE}}", mostBytes)
	}
	line, marks, flow := 1, 0, 0
	indent, leading := 0, true // of the line so far
	var levels []int           // the indentations that are open
	open := func() {
		for len(levels) > 0 && levels[len(levels)-1] >= indent {
			levels = levels[:len(levels)-1]
		}
		levels = append(levels, indent)
	}
	for i, c := range data {
		switch c {
		case '\n', '\r':
			if c == '\n' || i+1 == len(data) || data[i+1] != '\n' {
				line++
			}
			marks++
			indent, leading = 0, true
		case ' ', '\t':
			indent++
		case '-', '?': // a list in a list may begin in the same line
			marks++
			if leading {
				open()
			}
			indent++
			leading = leading && (i+1 == len(data) || slices.Contains([]byte(" \t\r\n"), data[i+1]))
		default:
			if leading {
				open()
			}
			leading = false
			switch c {
			case '[', '{':
				flow++
				marks++
			case ']', '}':
				flow = max(0, flow-1)
				marks++
			case ',', ':', '&', '*', '!', '"', '\'', '#', '|', '>', '%', '@', '`':
				marks++
			}
		}
		depth = max(depth, flow+len(levels))
		switch {
		case depth > mostDepth:
			return 0, f.beyond(line, "more than %d levels are no scenario", mostDepth)
		case marks > mostMarks:
			return 0, f.beyond(line, "more than %d marks, such as brackets, commas and ends of lines, are no scenario: draw what is long from files, as in data: {ids: {lines: FILE}}", mostMarks)
		}
	}
	return depth, nil
}

// boundedPaths returns an error if the names on the way to all nodes together are too long.
func (f *File) boundedPaths(tokens token.Tokens, depth int) error {
	var names []int
	for i, t := range tokens {
		if i > 0 && t.Type == token.MappingValueType {
			names = append(names, len(tokens[i-1].Value))
		}
	}
	slices.SortFunc(names, func(a, b int) int { return b - a })
	longest := 0
	for _, n := range names[:min(len(names), 2*depth)] { // a list can be as far in as the name that it is of
		longest += n
	}
	if longest*len(tokens) > mostPaths {
		return f.beyond(1, "names of %d bytes around each other, and %d words, are no scenario", longest, len(tokens))
	}
	return nil
}

func (f *File) beyond(line int, format string, args ...any) error {
	return &load.InvalidError{Where: fmt.Sprintf("%s:%d", f.name, line), Problem: fmt.Sprintf(format, args...)}
}

// readBounded reads no more than tells that there is too much.
func readBounded(r io.Reader) ([]byte, error) { return io.ReadAll(io.LimitReader(r, mostBytes+1)) }
