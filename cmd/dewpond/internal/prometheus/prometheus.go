// Package prometheus reads lines of Prometheus's text format.
package prometheus

import (
	"errors"
	"strconv"
	"strings"
)

var errLine = errors.New("malformed line")

// Line reads a line that is no comment, such as
//
//	dewpond_gets_total{class="512",pool="frames",result="hit"} 99
func Line(line string) (name string, labels map[string]string, v float64, err error) {
	end := strings.IndexAny(line, "{ ")
	if end < 0 {
		return "", nil, 0, errLine
	}
	name, rest := line[:end], line[end:]
	labels = map[string]string{}
	if rest[0] == '{' {
		rest = rest[1:]
		for !strings.HasPrefix(rest, "}") {
			label, after, ok := strings.Cut(rest, "=")
			quoted, err := strconv.QuotedPrefix(after)
			if !ok || err != nil {
				return "", nil, 0, errLine
			}
			if labels[label], err = strconv.Unquote(quoted); err != nil {
				return "", nil, 0, errLine
			}
			rest = strings.TrimPrefix(after[len(quoted):], ",")
		}
		rest = rest[1:]
	}
	fields := strings.Fields(rest) // the value, and perhaps a time
	if len(fields) == 0 {
		return "", nil, 0, errLine
	}
	v, err = strconv.ParseFloat(fields[0], 64)
	return name, labels, v, err
}
