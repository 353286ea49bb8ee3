package synthetic

import (
	"github.com/dewpond/dewpond/internal/measure/answer"
	"github.com/dewpond/dewpond/internal/measure/result"
)

// Tour returns the document of a tour.
func Tour() result.Document {
	all := Scenarios()
	all["mixed"] = Document(Mixed, Rounds(1, 6, 20_000, Pools[0], Pools[3], Pools[5]))
	d := result.Document{
		Schema: result.Schema, Environment: Environment, Contenders: []result.Contender{},
		Scenario: result.Scenario{Name: result.Touring, Rounds: 6}, Command: []string{"dewpond", "bench"},
	}
	for _, name := range []string{"micro", "mixed", "churn", "burst"} {
		part := all[name]
		part.Scenario.IdleTimeout = "" // the tour has the default
		d.Parts = append(d.Parts, part)
	}
	d.Answers = answer.Of(d)
	return d
}
