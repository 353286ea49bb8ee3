package synthetic

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/answer"
)

// Tour returns the document of a tour.
func Tour() bench.Document {
	all := Scenarios()
	all["mixed"] = Document(Mixed, Rounds(1, 6, 20_000, Pools[0], Pools[3], Pools[5]))
	d := bench.Document{
		Schema: bench.Schema, Environment: Environment, Contenders: []bench.Contender{},
		Scenario: bench.Scenario{Name: bench.Touring, Rounds: 6}, Command: []string{"dewpond", "bench"},
	}
	for _, name := range []string{"micro", "mixed", "churn", "burst", "beyond", "flood", "misuse"} {
		part := all[name]
		if name == "churn" { // with the default IdleTimeout, and with a short one
			long := part
			long.Scenario.IdleTimeout = ""
			d.Parts = append(d.Parts, long)
		}
		d.Parts = append(d.Parts, part)
	}
	d.Answers = answer.Of(d)
	return d
}
