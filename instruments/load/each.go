package load

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/dewpond/dewpond/instruments/kit/quantile"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/summary"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// A Mixing compares each protocol of a scenario alone with the same protocol in the mixture, at the
// same total rate.
type Mixing struct {
	Schema int      `json:"schema"`
	Alone  []Alone  `json:"alone"` // the rounds of each protocol
	Mixed  []Result `json:"mixed"` // the rounds of the mixture
	Costs  []Cost   `json:"costs"` // of each protocol's P50 and P99
}

// Alone is the rounds of one protocol.
type Alone struct {
	Protocol Protocol `json:"protocol"`
	Rounds   []Result `json:"rounds"`
}

// A Cost is what mixing does to a percentile of a protocol's response.
type Cost struct {
	Protocol Protocol `json:"protocol"`
	Name     string   `json:"name"` // of the percentile, such as p99_ns
	// Alone and Mixed are medians of the rounds, in nanoseconds.
	Alone float64 `json:"alone"`
	Mixed float64 `json:"mixed"`
	// Ratio is mixed divided by alone, round by round.
	Ratio result.Ratio `json:"ratio"`
	// Verdict is "mixing costs", "mixing gains" or "cannot be told apart", which a difference of less
	// than 2 % is, too.
	Verdict string `json:"verdict"`
}

// EachProtocol runs every protocol of the scenario alone, and then the mixture, in turns: as many
// rounds of each as a verdict needs. begin, if it is not nil, is told what begins. If ctx ends, it
// returns [ErrInterrupted].
func EachProtocol(ctx context.Context, s Scenario, o Options, begin func(string)) (Mixing, error) {
	m := Mixing{Schema: Schema}
	if len(s.Protocols) < 2 {
		return m, at("protocols", "there is no mixture: give the shares of two protocols or more")
	}
	for _, share := range s.Protocols {
		m.Alone = append(m.Alone, Alone{Protocol: share.Protocol})
	}
	turns := len(s.Protocols) + 1
	for round := range summary.VerdictRounds {
		for i := range turns {
			turn := (i + round) % turns // each round begins with another one
			part, into, name := s, &m.Mixed, "the mixture"
			if turn < len(s.Protocols) {
				p := s.Protocols[turn].Protocol
				part.Protocols, into, name = []Share{{p, 1}}, &m.Alone[turn].Rounds, string(p)
			}
			if begin != nil {
				begin(fmt.Sprintf("round %d of %d: %s", round+1, summary.VerdictRounds, name))
			}
			r, err := Run(ctx, part, o)
			if err != nil {
				return m, err
			}
			if r.Interrupted {
				return m, ErrInterrupted
			}
			*into = append(*into, r)
		}
	}
	m.compare()
	return m, nil
}

// compare fills in the costs: P50 and P99, where every round has the samples.
func (m *Mixing) compare() {
	for _, a := range m.Alone {
		for _, q := range []percentile{percentiles[0], percentiles[2]} {
			alone, mixed := of(a.Rounds, a.Protocol, q), of(m.Mixed, a.Protocol, q)
			if len(alone) != len(m.Mixed) || len(mixed) != len(m.Mixed) || len(mixed) == 0 {
				continue
			}
			ratios := make([]float64, len(alone))
			for i := range alone {
				ratios[i] = mixed[i] / alone[i]
			}
			c := Cost{
				Protocol: a.Protocol, Name: q.key + "_ns", Verdict: "cannot be told apart",
				Alone: quantile.Median(alone), Mixed: quantile.Median(mixed), Ratio: result.Ratio(summary.Interval(ratios)),
			}
			switch verdict.Of(c.Name, c.Ratio) {
			case verdict.Worse:
				c.Verdict = "mixing costs"
			case verdict.Better:
				c.Verdict = "mixing gains"
			}
			m.Costs = append(m.Costs, c)
		}
	}
}

// of returns a percentile of a protocol in each round that has it.
func of(rounds []Result, p Protocol, q percentile) []float64 {
	var values []float64
	for _, r := range rounds {
		for i := range r.Protocols {
			part := &r.Protocols[i]
			if v := *q.in(part.Response); part.Name == string(p) && v != nil {
				values = append(values, *v)
			}
		}
	}
	return values
}

// WriteJSON writes all rounds and the comparison.
func (m Mixing) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(m)
}
