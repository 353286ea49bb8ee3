package synthetic

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/answer"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/digest"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// Document returns the document that a bench command makes of the rounds.
func Document(sc bench.Scenario, rounds []result.Round) bench.Document {
	return DocumentOn(Environment, sc, rounds)
}

// DocumentOn is Document on another machine.
func DocumentOn(env bench.Conditions, sc bench.Scenario, rounds []result.Round) bench.Document {
	d, err := digest.Of(env, sc, map[string]string{"nop": "private buffers: the floor of the driver"}, rounds)
	if err != nil {
		panic(err)
	}
	d.Answers = answer.Of(d)
	d.Words = words.Of(d).All()
	d.Command = []string{"dewpond", "bench", "--contenders", "nop,make", "--html", "my report.html"}
	return d
}
