package top

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dewpond/dewpond/instruments/kit/columns"
)

// Once writes one table of what a snapshot says, for scripts: a line of names, a line for each
// pool, plain numbers, and no spaces in a pool's name, which is quoted if it has any.
func Once(w io.Writer, s *Snapshot, order Order) error {
	value := map[Order]func(*Pool) float64{
		ByMisses: func(p *Pool) float64 { return p.Misses },
		ByGrowth: func(p *Pool) float64 { return p.Out },
		ByBytes:  func(p *Pool) float64 { return p.Idle + p.Used },
	}[order]
	rows := [][]string{{"POOL", "GETS", "HIT%", "MISSES", "PUTS", "OUT", "USED_BYTES", "IDLE_BYTES", "DROPPED", "REFUSED", "WAITS", "VIOLATIONS"}}
	for _, name := range sorted(s.Pools, value) {
		p := s.Pools[name]
		row := []string{word(name), whole(p.Gets), fmt.Sprintf("%.1f", 100*p.HitRate())}
		for _, v := range []float64{p.Misses, p.Puts, p.Out, p.Used, p.Idle, p.Dropped, p.Refused, p.Waits, p.Violations} {
			row = append(row, whole(v))
		}
		rows = append(rows, row)
	}
	return columns.Write(w, rows)
}

func whole(v float64) string { return strconv.FormatFloat(v, 'f', 0, 64) }

// word returns a name as one word, without what a terminal would obey.
func word(name string) string {
	quoted := strconv.Quote(name)
	if name == "" || strings.Contains(name, " ") || quoted != `"`+name+`"` {
		return strings.ReplaceAll(quoted, " ", `\x20`)
	}
	return name
}
