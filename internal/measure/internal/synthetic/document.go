package synthetic

import (
	"github.com/dewpond/dewpond/internal/measure/answer"
	"github.com/dewpond/dewpond/internal/measure/result"
	"github.com/dewpond/dewpond/internal/measure/summary"
	"github.com/dewpond/dewpond/internal/measure/words"
)

// Document returns the document that a bench command makes of the rounds.
func Document(sc result.Scenario, rounds []result.Round) result.Document {
	return DocumentOn(Environment, sc, rounds)
}

// DocumentOn is Document on another machine.
func DocumentOn(env result.Environment, sc result.Scenario, rounds []result.Round) result.Document {
	d, err := summary.Of(env, sc, map[string]string{"nop": "private buffers: the floor of the driver"}, rounds)
	if err != nil {
		panic(err)
	}
	d.Answers = answer.Of(d)
	d.Words = words.Of(d).All()
	d.Command = []string{"dewpond", "bench", "--contenders", "nop,make", "--html", "my report.html"}
	return d
}
