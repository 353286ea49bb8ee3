// Package rivals compares the contenders of scenario rivals, each with syncpool and with dewpond.
package rivals

import (
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/digest"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/judge"
	"github.com/dewpond/dewpond/instruments/kit/result"
)

// Fill compares the contenders of a cell by its rounds, which part is the document of. It sets the
// cell's Rivals, besides those that it has: the ones that were left out.
func Fill(cell *bench.Cell, part bench.Document, rounds []result.Round) error {
	all, err := digest.NewRounds(rounds)
	if err != nil {
		return err
	}
	var measured []bench.Rival
	for _, c := range part.Contenders {
		r := bench.Rival{Name: c.Name}
		for _, f := range cell.Figures {
			value, _ := figures.Of(&c, f.Figure)
			r.Figures = append(r.Figures, bench.Compared{
				Value:      value,
				ToSyncPool: beside(part, all, c.Name, bench.Plain, f.Figure),
				Ours:       beside(part, all, bench.Ours, c.Name, f.Figure),
			})
		}
		measured = append(measured, r)
	}
	cell.Rivals = append(measured, cell.Rivals...)
	return nil
}

// beside compares a figure of one contender with that of another. It is nil if there is nothing to
// compare.
func beside(part bench.Document, all digest.Rounds, one, other, name string) *bench.Beside {
	a, b := part.Contender(one), part.Contender(other)
	if one == other || a == nil || b == nil {
		return nil
	}
	if f, ok := figures.Of(b, name); !ok || f.Max == 0 && name == rss { // the system does not say
		return nil
	}
	ratio, difference := all.Compare(one, other, name)
	if ratio == nil && difference == nil {
		return nil
	}
	out := &bench.Beside{Ratio: ratio, Difference: difference}
	if part.Scenario.Quick {
		return out
	}
	// The judge knows one baseline, which is the other here.
	judged := &bench.Contender{Name: one, Excess: a.Excess}
	if ratio != nil {
		judged.Ratios = map[string]result.Ratio{name: *ratio}
	} else {
		judged.Differences = map[string]result.Excess{name: *difference}
	}
	out.Side = string(judge.Between(judged, b, name))
	return out
}

const rss = "rss_peak_bytes"
