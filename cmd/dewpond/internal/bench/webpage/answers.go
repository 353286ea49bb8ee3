package webpage

import (
	"cmp"
	"strconv"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/figures"
	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench/words"
	"github.com/dewpond/dewpond/instruments/kit/axis"
	"github.com/dewpond/dewpond/instruments/kit/figure"
	"github.com/dewpond/dewpond/instruments/kit/page"
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
	low, high := 0.5, 2.0
	for _, a := range d.Answers {
		if a.Ratio == nil {
			continue
		}
		high = max(high, a.Ratio.High)
		if a.Ratio.Low > 0 {
			low = min(low, a.Ratio.Low)
		}
	}
	x := axis.Log(low/1.2, 1.2*high, times)
	at := func(v float64) float64 {
		if v <= 0 {
			return 0
		}
		return 100 * min(max(x.At(v), 0), 1)
	}
	out := answers{Even: at(1), Tour: d.Scenario.Name == bench.Touring}
	for _, t := range page.Ticks(x) {
		if t.Label != "" {
			out.Ticks = append(out.Ticks, t)
		}
	}
	for _, a := range d.Answers {
		row := answerRow{
			Answer: a, Side: a.Side, Ratio: cmp.Or(figures.Compared(a), "–"),
			Mine: figure.Format(a.Figure, a.Ours.Median), Theirs: figure.Format(a.Figure, a.Baseline.Median),
		}
		if a.Ratio != nil {
			row.Drawn = true
			row.At, row.Low = at(a.Ratio.Median), at(a.Ratio.Low)
			row.Span = at(a.Ratio.High) - row.Low
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

// times labels the axis of ratios: "0.5x".
func times(v float64) string { return strconv.FormatFloat(v, 'f', -1, 32) + "x" }
