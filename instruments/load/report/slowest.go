package report

import (
	"slices"
	"strconv"

	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/load"
)

// slowestTable has a row for each share.
func slowestTable(r *load.Result) [][]string {
	head := []string{"slowest, mean", "requests", "response", "lag", "waiting", "connecting"}
	var names []string
	for _, s := range r.Slowest {
		for _, p := range s.Phases {
			if !slices.Contains(names, p.Name) {
				names = append(names, p.Name)
			}
		}
	}
	rows := [][]string{append(append(head, names...), "rest of service")}
	for _, s := range r.Slowest {
		row := []string{
			figure.Percent(s.Share), strconv.Itoa(s.Requests), figure.Duration(s.Response), figure.Duration(s.Lag),
			figure.Duration(s.Waiting), figure.Duration(s.Connecting),
		}
		for _, name := range names {
			text := "-"
			for _, p := range s.Phases {
				if p.Name == name {
					text = figure.Duration(p.Mean)
				}
			}
			row = append(row, text)
		}
		rows = append(rows, append(row, figure.Duration(s.Rest)))
	}
	return rows
}
