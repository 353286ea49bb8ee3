package figures

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// In returns where a contender has the times of an operation.
func In(c *bench.Contender, op figure.Operation) **bench.Times {
	switch op.Key {
	case "replace":
		return &c.Replace
	case "pair":
		return &c.Pair
	case "get":
		return &c.Get
	case "put":
		return &c.Put
	case "push":
		return &c.Push
	case "response":
		return &c.Response
	case "service":
		return &c.Service
	case "lag":
		return &c.Lag
	}
	panic("figures: no operation " + op.Key)
}

// Times returns the times of an operation of a contender, or nil.
func Times(c *bench.Contender, op figure.Operation) *bench.Times { return *In(c, op) }

// At returns where times have a percentile.
func At(t *bench.Times, p figure.Percentile) **result.Figure {
	switch p.Key {
	case "p50":
		return &t.P50
	case "p99":
		return &t.P99
	case "p999":
		return &t.P999
	case "p9999":
		return &t.P9999
	}
	panic("figures: no percentile " + p.Key)
}

// InReadingOrder returns the operations in the order in which a reader needs them. Those that
// share a table are in one group.
func InReadingOrder(sc bench.Scenario) [][]figure.Operation {
	waits, pool := [][]figure.Operation{figure.Pick("response", "service"), figure.Pick("lag")}, [][]figure.Operation{figure.Pick("replace"), figure.Pick("pair"), figure.Pick("get", "put"), figure.Pick("push")}
	if sc.Mode == "open" {
		return append(waits, pool...)
	}
	return append(pool, waits...)
}
