package figures

import (
	"slices"
	"strings"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/bench"
)

// A Curve is one series over time, of each contender's median round.
type Curve struct {
	Name   string // in bench.Contender.Series
	Title  string
	silent string // why a contender has no curve; empty if unknown
}

// known are the curves that reports know, in display order.
var known = []Curve{
	{"idle_bytes", "Idle bytes over time", "cannot tell what it holds"},
	{"in_use_bytes", "Bytes in use over time", "not counted"},
	{"rss_bytes", "Resident memory (RSS) over time", "this system does not say"},
	{"collections", "Collections since the start", "not counted"},
}

// Curves returns the curves of a document, the known ones first.
func Curves(d bench.Document) []Curve {
	var out []Curve
	for _, c := range known {
		if slices.ContainsFunc(d.Contenders, func(of bench.Contender) bool { return of.Series[c.Name] != nil }) {
			out = append(out, c)
		}
	}
	var others []string
	for _, of := range d.Contenders {
		for name := range of.Series {
			if !slices.ContainsFunc(known, func(c Curve) bool { return c.Name == name }) && !slices.Contains(others, name) {
				others = append(others, name)
			}
		}
	}
	slices.Sort(others)
	for _, name := range others {
		out = append(out, Curve{Name: name, Title: Label(name) + " over time"})
	}
	return out
}

// Silence says which of the contenders have no values in a known curve, and why: a missing line
// or cell must not be read as zero.
func (c Curve) Silence(d bench.Document) string {
	var names []string
	for _, of := range d.Contenders {
		if len(of.Series) > 0 && len(of.Series[c.Name]) == 0 {
			names = append(names, of.Name)
		}
	}
	if names == nil || c.silent == "" {
		return ""
	}
	return c.silent + ": " + strings.Join(names, ", ")
}
