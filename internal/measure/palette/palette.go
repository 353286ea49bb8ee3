// Package palette gives each contender a colour, the same in every drawing.
package palette

import "github.com/dewpond/dewpond/internal/measure/result"

// A Hue is one contender's colour on a light and on a dark page.
type Hue struct{ Light, Dark string }

// The three contenders that every reader looks for have the same colours in every report.
var named = map[string]Hue{
	result.Control:  {"#6b7280", "#9aa4b2"},
	result.Baseline: {"#d9480f", "#ff922b"},
	result.Ours:     {"#0b63ce", "#5ab0ff"},
}

var others = []Hue{
	{"#2b8a3e", "#51cf66"}, {"#862e9c", "#da77f2"}, {"#0c8599", "#3bc9db"}, {"#a87900", "#fcc419"},
	{"#c2255c", "#f783ac"}, {"#5f3dc4", "#9775fa"}, {"#5c940d", "#a9e34b"}, {"#8d5a3b", "#c9a58d"},
	{"#c92a2a", "#ff8787"},
}

// Of returns the colours of a document's contenders.
func Of(d result.Document) []Hue {
	var out []Hue
	next := 0
	for _, c := range d.Contenders {
		h, ok := named[c.Name]
		if !ok {
			h = others[next%len(others)]
			next++
		}
		out = append(out, h)
	}
	return out
}
