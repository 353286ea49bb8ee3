package report

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/load"
)

// badStatusLines returns a line for each status that was an error: a target that is full and one that limits
// the rate are not one story.
func badStatusLines(r *load.Result) []string {
	var lines []string
	left := r.Errors[load.BadStatus]
	line := func(n uint64, message string) {
		lines = append(lines, fmt.Sprintf("%d errors of kind %s, such as: %s", n, load.BadStatus, message))
	}
	for _, status := range slices.Sorted(maps.Keys(r.ErrorStatuses)) {
		n := r.ErrorStatuses[status]
		line(n, r.StatusMessages[status])
		left -= min(left, n)
	}
	if left > 0 { // of an Action of its own, or of an old result
		line(left, r.Messages[load.BadStatus])
	}
	return lines
}

// statusesTable has a row for each step that was answered.
func statusesTable(r *load.Result) [][]string {
	rows := [][]string{{"", "statuses", "bytes sent", "received"}}
	for i := range r.Steps {
		p := &r.Steps[i]
		if len(p.Statuses)+int(min(1, p.Sent+p.Received)) > 0 {
			rows = append(rows, []string{p.Name, statuses(p), figure.ByteSize(float64(p.Sent)), figure.ByteSize(float64(p.Received))})
		}
	}
	return rows
}

// statuses returns all of them, as in "200: 9851, 503: 3846", and how many calls had none.
func statuses(p *load.Part) string {
	var out []string
	none := p.Requests
	for _, status := range slices.Sorted(maps.Keys(p.Statuses)) {
		n := p.Statuses[status]
		out = append(out, fmt.Sprintf("%s: %d", status, n))
		none -= min(none, n)
	}
	if none > 0 {
		out = append(out, fmt.Sprintf("none: %d", none))
	}
	return strings.Join(out, ", ")
}
