package figure

import (
	"slices"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// An Operation is a kind of operation whose times are recorded in one histogram.
type Operation struct {
	Key   string // in result.Round.Histograms, and the prefix of figure names
	Label string
	Head  string // label if columns of two operations share a table
	What  string // one line for a reader who sees it first on a chart
	In    func(*result.Contender) **result.Times
}

// Operations are in display order. Lag is last: it is the generator's, not the pool's.
var Operations = []Operation{
	{"get", "Get", "Get", "time inside Get", func(c *result.Contender) **result.Times { return &c.Get }},
	{"put", "Put", "Put", "time inside Put", func(c *result.Contender) **result.Times { return &c.Put }},
	{"push", "Push", "Push", "time of one push into the window", func(c *result.Contender) **result.Times { return &c.Push }},
	{"response", "Response", "Resp", "from the intended start to the end: waiting included", func(c *result.Contender) **result.Times { return &c.Response }},
	{"service", "Service", "Serv", "from the actual start to the end: waiting left out", func(c *result.Contender) **result.Times { return &c.Service }},
	{"lag", "Lag", "Lag", "how late the generator started an arrival: its own fault, not the pool's", func(c *result.Contender) **result.Times { return &c.Lag }},
}

// Times returns the operation's times of a contender, or nil.
func (o Operation) Times(c *result.Contender) *result.Times { return *o.In(c) }

// Figure returns the name of one of the operation's percentiles.
func (o Operation) Figure(p Percentile) string { return o.Key + "_" + p.Key + "_ns" }

// InReadingOrder returns the operations in the order in which a reader needs them. Those that
// share a table are in one group.
func InReadingOrder(sc result.Scenario) [][]Operation {
	waits, pool := [][]Operation{Pick("response", "service"), Pick("lag")}, [][]Operation{Pick("get", "put"), Pick("push")}
	if sc.Mode == "open" {
		return append(waits, pool...)
	}
	return append(pool, waits...)
}

// Pick returns the operations with these keys.
func Pick(keys ...string) []Operation {
	var out []Operation
	for _, op := range Operations {
		if slices.Contains(keys, op.Key) {
			out = append(out, op)
		}
	}
	return out
}
