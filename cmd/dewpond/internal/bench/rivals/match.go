package rivals

import (
	"cmp"
	"slices"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
	"github.com/dewpond/dewpond/instruments/kit/summary"
)

// Most is how many times what a rival needs may be needed without being called a loss.
const Most = 1.1

// A Match is one figure of one of ours beside a rival in a cell: of dewpond beside each, and of
// dewsync beside syncpool.
type Match struct {
	Cell   bench.Cell
	Figure bench.CellFigure
	Ours   string // dewpond or dewsync
	Rival  string
	bench.Beside
}

// Lost reports whether ours needs more than Most times what the rival does, by an interval that
// excludes 1; or something where the rival needs nothing, by one that excludes 0.
func (m Match) Lost() bool {
	switch {
	case !m.Judged():
		return false
	case m.Ratio != nil:
		return m.Ratio.Median > Most && m.Ratio.Low > 1
	}
	return m.Difference.Low > 0
}

// Won is Lost the other way round.
func (m Match) Won() bool {
	switch {
	case !m.Judged():
		return false
	case m.Ratio != nil:
		return m.Ratio.Median < 1/Most && m.Ratio.High < 1
	}
	return m.Difference.High < 0
}

// Judged reports whether the match has as many rounds as a verdict takes.
func (m Match) Judged() bool {
	if m.Side == "" {
		return false
	}
	if m.Ratio != nil {
		return m.Ratio.Rounds >= summary.VerdictRounds
	}
	return m.Difference.Rounds >= summary.VerdictRounds
}

// Confidence is that of the interval.
func (m Match) Confidence() float64 {
	if m.Ratio != nil {
		return m.Ratio.Confidence
	}
	return m.Difference.Confidence
}

// Matches returns the matches of a document, in the order of its cells. The control is no rival.
func Matches(d bench.Document) []Match {
	var out []Match
	for _, c := range d.Cells {
		for _, r := range c.Rivals {
			for i, f := range r.Figures {
				if r.Name != bench.Control && r.Name != bench.Synced && f.Ours != nil {
					out = append(out, Match{c, c.Figures[i], bench.Ours, r.Name, *f.Ours})
				}
				if r.Name == bench.Synced && f.ToSyncPool != nil {
					out = append(out, Match{c, c.Figures[i], bench.Synced, bench.Plain, *f.ToSyncPool})
				}
			}
		}
	}
	return out
}

// Losses returns the matches that are lost, the largest ratios first; what the rival has none of comes
// before all.
func Losses(d bench.Document) []Match {
	lost := slices.DeleteFunc(Matches(d), func(m Match) bool { return !m.Lost() })
	slices.SortStableFunc(lost, func(a, b Match) int {
		switch {
		case a.Ratio == nil && b.Ratio == nil:
			return 0
		case a.Ratio == nil:
			return -1
		case b.Ratio == nil:
			return 1
		}
		return cmp.Compare(b.Ratio.Median, a.Ratio.Median)
	})
	return lost
}
