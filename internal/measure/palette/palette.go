// Package palette gives each contender a colour: the same in every drawing of every report.
package palette

import "hash/fnv"

// A Hue is one contender's colour on a light and on a dark page.
type Hue struct{ Light, Dark string }

// named are the colours of the contenders that benchmarks know. Dewpond's own are blue.
var named = map[string]Hue{
	"nop":             {"#6b7280", "#9aa4b2"},
	"syncpool-class":  {"#d9480f", "#ff922b"},
	"dewpond":         {"#0b63ce", "#5ab0ff"},
	"dewpond-nodecay": {"#4263eb", "#91a7ff"},
	"dewpond-offheap": {"#0c8599", "#3bc9db"},
	"make":            {"#a87900", "#fcc419"},
	"syncpool-mixed":  {"#c92a2a", "#ff8787"},
	"treiber":         {"#5c940d", "#a9e34b"},
	"ring":            {"#862e9c", "#da77f2"},
	"channel":         {"#2b8a3e", "#51cf66"},
	"mcache":          {"#c2255c", "#f783ac"},
	"bytebufferpool":  {"#8d5a3b", "#c9a58d"},
	"grpc-mem":        {"#5f3dc4", "#9775fa"},
}

// others are for names that are not known.
var others = []Hue{
	{"#087f5b", "#38d9a9"}, {"#9c36b5", "#e599f7"}, {"#e8590c", "#ffc078"}, {"#364fc7", "#748ffc"}, {"#66a80f", "#c0eb75"},
}

// Of returns the colour of a contender. It depends on the name alone, so that a contender looks the
// same beside whatever others.
func Of(name string) Hue {
	if h, ok := named[name]; ok {
		return h
	}
	hash := fnv.New32a()
	hash.Write([]byte(name))
	return others[hash.Sum32()%uint32(len(others))]
}

// At returns one of the colours for what has no colour of its own, by its place in a chart.
// Neighbours differ.
func At(i int) Hue {
	order := []string{"dewpond", "syncpool-class", "channel", "ring", "make", "dewpond-offheap", "mcache", "nop", "treiber", "bytebufferpool", "grpc-mem", "syncpool-mixed"}
	return named[order[i%len(order)]]
}
