package figure

import "slices"

// An Operation is a kind of operation whose times are recorded in one histogram.
type Operation struct {
	Key   string // in result.Round.Histograms, and the prefix of figure names
	Label string
	Head  string // label if columns of two operations share a table
	What  string // one line for a reader who sees it first on a chart
}

// Operations are in display order. Lag is last: it is the generator's, not the pool's.
var Operations = []Operation{
	{"replace", "Replacement", "Repl", "one Put and the Get after it, timed together"},
	{"pair", "Get and Put", "Pair", "one Get and the Put of its block together; in bursts with the first write to the block"},
	{"get", "Get", "Get", "time inside Get"},
	{"put", "Put", "Put", "time inside Put"},
	{"push", "Push", "Push", "time of one push into the window"},
	{"response", "Response", "Resp", "from the intended start to the end: waiting included"},
	{"service", "Service", "Serv", "from the actual start to the end: waiting left out"},
	{"lag", "Lag", "Lag", "how late the generator started an arrival: its own fault, not the pool's"},
}

// Figure returns the name of one of the operation's percentiles.
func (o Operation) Figure(p Percentile) string { return o.Key + "_" + p.Key + "_ns" }

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
