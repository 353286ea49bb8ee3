package report

import (
	"fmt"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// tail is the percentile by which decay is judged: whoever lets blocks go must not be
// felt by those who get and put meanwhile.
const tail = "p9999"

// decayGrid is dewpond with decay beside dewpond without, for the steady traffic. What
// the bursts pay is in the scenario's own table and in the words.
func decayGrid(d result.Document) grid {
	g := grid{title: "What decay costs: " + ours + " to " + undecayed, head: append([]string{""}, percentileHeads()...)}
	g.head = append(g.head, "P9999 within noise")
	var names []string
	for _, op := range pick("get", "put") {
		r, any := row{name: op.label, kind: ofOperation}, false
		for _, p := range percentiles {
			name := op.key + "_" + p.key + "_ns"
			ratio, ok := d.Decay[name]
			names, any = append(names, name), any || ok
			r.cells = append(r.cells, compared(name, ratio, ok))
		}
		r.cells = append(r.cells, cell{text: withinNoise(d.Decay[op.key+"_"+tail+"_ns"])})
		if any {
			g.rows = append(g.rows, r)
		}
	}
	var all []result.Ratio
	for _, name := range names {
		if r, ok := d.Decay[name]; ok {
			all = append(all, r)
		}
	}
	g.notes = append(g.notes, brackets(all))
	if _, ok := d.Decay["burst_ns"]; ok {
		g.notes = append(g.notes, "Get and Put are the steady traffic's, also while a burst goes on; the bursts' own are in the table above.")
	}
	return g
}

// withinNoise says whether an interval contains 1; too few rounds cannot tell.
func withinNoise(r result.Ratio) string {
	switch {
	case r.Rounds < verdictRounds:
		return none
	case r.Low <= 1 && 1 <= r.High:
		return "yes"
	}
	return "no"
}

// decayWords is the verdict on decay; nothing where there are too few rounds for
// one, or with --quick.
func decayWords(d result.Document) []string {
	if d.Scenario.Quick {
		return nil
	}
	var out []string
	for _, op := range pick("get", "put") {
		name := op.key + "_" + tail + "_ns"
		r := d.Decay[name]
		if said := withinNoise(r); said != none {
			out = append(out, fmt.Sprintf("Decay on beside off (%s to %s), %s: %s, the %s interval of the median over %d rounds; within noise: %s.",
				ours, undecayed, label(name), bracketed(r), percent(r.Confidence), r.Rounds, said))
		}
	}
	if r := d.Decay["burst_ns"]; r.Rounds >= verdictRounds {
		said := fmt.Sprintf("A burst takes %s as long with decay on", bracketed(r))
		if r.Low > 1 {
			said += ": what was let go is allocated anew"
		}
		out = append(out, said+".")
	}
	return out
}
