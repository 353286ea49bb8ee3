package top

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"text/tabwriter"
)

// Once writes one table of what a snapshot says, for scripts: a line of names, a line for each
// pool, plain numbers, and no spaces in a pool's name, which is quoted if it has any.
func Once(w io.Writer, s *Snapshot, order Order) error {
	value := map[Order]func(*Pool) float64{
		ByMisses: func(p *Pool) float64 { return p.Misses },
		ByGrowth: func(p *Pool) float64 { return p.Out },
		ByBytes:  func(p *Pool) float64 { return p.Idle + p.Used },
	}[order]
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "POOL\tGETS\tHIT%\tMISSES\tPUTS\tOUT\tUSED_BYTES\tIDLE_BYTES\tDROPPED\tREFUSED\tWAITS\tVIOLATIONS")
	for _, name := range sorted(s.Pools, value) {
		p := s.Pools[name]
		fmt.Fprintf(t, "%s\t%.0f\t%.1f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\t%.0f\n", word(name),
			p.Gets, 100*p.HitRate(), p.Misses, p.Puts, p.Out, p.Used, p.Idle, p.Dropped, p.Refused, p.Waits, p.Violations)
	}
	return t.Flush()
}

// word returns a name as one word, without what a terminal would obey.
func word(name string) string {
	quoted := strconv.Quote(name)
	if name == "" || strings.Contains(name, " ") || quoted != `"`+name+`"` {
		return strings.ReplaceAll(quoted, " ", `\x20`)
	}
	return name
}
