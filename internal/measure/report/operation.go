package report

import "github.com/dewpond/dewpond/internal/measure/result"

// An operation is one thing whose times are recorded in a histogram of its own.
type operation struct {
	key   string // in result.Round.Histograms, and the prefix of figure names
	label string
	head  string // label where columns of two operations share a table
	what  string // one line for a reader who meets it first on a chart
	of    func(*result.Contender) **result.Times
}

// operations is in the order in which reports show them. Lag is last: it is the
// generator's, not the pool's.
var operations = []operation{
	{"get", "Get", "Get", "time inside Get", func(c *result.Contender) **result.Times { return &c.Get }},
	{"put", "Put", "Put", "time inside Put", func(c *result.Contender) **result.Times { return &c.Put }},
	{"push", "Push", "Push", "time of one push into the window", func(c *result.Contender) **result.Times { return &c.Push }},
	{"response", "Response", "Resp", "from the intended start to the end: waiting included", func(c *result.Contender) **result.Times { return &c.Response }},
	{"service", "Service", "Serv", "from the actual start to the end: waiting left out", func(c *result.Contender) **result.Times { return &c.Service }},
	{"lag", "Lag", "Lag", "how late the generator started an arrival: its own fault, not the pool's", func(c *result.Contender) **result.Times { return &c.Lag }},
}

// times gives the operation's times of a contender; nil where it has none.
func (o operation) times(c *result.Contender) *result.Times { return *o.of(c) }
