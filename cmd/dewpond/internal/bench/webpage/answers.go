package webpage

import (
	"cmp"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/page"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/instruments/kit/verdict"
)

// answers is the picture that a page begins with: each answer's ratio with its interval, all over
// one logarithmic axis.
type answers struct {
	Rows   []answerRow
	Ticks  []page.Tick
	Even   float64 // the place of 1, in percent
	Unseen string  // what the word means, if a row has it
	Judged bool    // whether a row has a verdict
	Tour   bool
	Whom   []string // for whom dewpond is, by a tour
}

// An answerRow is one answer. Its places are in percent of the axis.
type answerRow struct {
	bench.Answer
	Mine, Theirs string
	Ratio        string
	Drawn        bool // whether it has a ratio
	At, Low      float64
	Span         float64 // from Low to the high end
	Side         string
	First        bool // of its topic
}

// answersOf returns the picture of a document's answers.
func answersOf(d bench.Document) answers {
	var ratios []*result.Ratio
	for _, a := range d.Answers {
		ratios = append(ratios, a.Ratio)
	}
	x := newRatioAxis(ratios)
	out := answers{Even: x.at(1), Ticks: x.ticks(), Tour: d.Scenario.Name == bench.Touring}
	for _, a := range d.Answers {
		row := answerRow{
			Answer: a, Side: a.Side, Ratio: cmp.Or(figures.Compared(a), "–"),
			Mine: figure.Format(a.Figure, a.Ours.Median), Theirs: figure.Format(a.Figure, a.Baseline.Median),
		}
		if a.Ratio != nil {
			row.Drawn = true
			row.At, row.Low = x.at(a.Ratio.Median), x.at(a.Ratio.Low)
			row.Span = x.at(a.Ratio.High) - row.Low
		}
		row.First = len(out.Rows) == 0 || out.Rows[len(out.Rows)-1].Topic != a.Topic
		row.Side = cmp.Or(row.Side, "no verdict")
		if a.Side == string(verdict.Unseen) {
			out.Unseen = words.Unseen
		}
		out.Judged = out.Judged || a.Side != ""
		out.Rows = append(out.Rows, row)
	}
	if out.Tour {
		out.Whom = words.ForWhom(d)
	}
	return out
}
