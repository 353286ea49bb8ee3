package words

import (
	"fmt"
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/judge"
	"github.com/dewpond/dewpond/instruments/kit/summary"
)

// A Verdict is what a report says in sentences. It has the same form for gains and losses, and says
// nothing that an interval does not show.
type Verdict struct {
	Ours   []string // dewpond beside syncpool-class
	Decay  []string // the cost of decay, if it was measured
	Tools  []string // a paragraph for each of dewpond's tools and each thing that it replaces
	Others []string // a paragraph for each other contender
	Limits []string // how far to trust the rest
}

// All returns the sentences in the order in which they matter.
func (v Verdict) All() []string {
	return slices.Concat(v.Ours, v.Decay, v.Tools, v.Others, v.Limits)
}

// Of returns the verdict on a document. The words on the tools and on decay need no baseline among
// the contenders. There are no words on a tour, whose answers are its verdict.
func Of(d bench.Document) Verdict {
	if d.Scenario.Name == bench.Contest {
		return contestWords(d)
	}
	v := Verdict{Decay: decayWords(d)}
	var tools count
	v.Tools, tools = toolWords(d)
	if tools.intervals > 0 {
		v.Limits = append(v.Limits, tools.limit("A tool's ratio is its time divided by the time of what it replaces, in the same process"))
	}
	if Withheld(d) != "" {
		return v
	}
	base, nop := d.Contender(bench.Baseline), d.Contender(bench.Control)
	looked := count{confidence: 1}
	for i := range d.Contenders {
		c := &d.Contenders[i]
		if c == base || c == nop {
			continue
		}
		judged := judge.Of(d.Scenario, c, base)
		looked.intervals += judged.Intervals
		for _, r := range c.Ratios {
			if r.Rounds >= summary.VerdictRounds {
				looked.confidence = min(looked.confidence, r.Confidence)
			}
		}
		if c.Name == bench.Ours {
			v.Ours = inFull(c, base, judged)
		} else {
			v.Others = append(v.Others, inShort(c, base, judged))
		}
	}
	v.Limits = append(v.Limits, limits(d, nop, looked)...)
	return v
}

// Withheld returns why there is no verdict on the contenders, or "" if there is one.
func Withheld(d bench.Document) string {
	if d.Scenario.Quick {
		return "No verdict: --quick gives figures only."
	}
	if d.Scenario.Name == bench.Contest {
		return contestWithheld(d)
	}
	tools, _ := toolWords(d)
	no := "No verdict"
	if len(tools)+len(decayWords(d)) > 0 {
		no = "No verdict on the byte pools"
	}
	if d.Contender(bench.Baseline) == nil {
		return no + ": " + bench.Baseline + ", which ratios compare with, is not among the contenders."
	}
	if len(d.Contenders) < 2 || len(d.Contenders) == 2 && d.Contender(bench.Control) != nil {
		return no + ": there is nothing to compare with " + bench.Baseline + "."
	}
	for _, c := range d.Contenders {
		for _, r := range c.Ratios {
			if r.Rounds >= summary.VerdictRounds {
				return ""
			}
		}
	}
	return tooFew(no, bench.Baseline)
}

func tooFew(no, baseline string) string {
	return fmt.Sprintf("%s: too few rounds. A 95 %% interval of a median takes at least %d complete rounds of a contender beside %s.", no, summary.VerdictRounds, baseline)
}
