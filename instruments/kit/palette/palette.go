// Package palette has the colours of drawings: what bears a name has the same one in each of them.
package palette

import "hash/fnv"

// A Hue is one colour, as a light and as a dark page show it.
type Hue struct{ Light, Dark string }

// Hues to choose from for what always has the same one.
var (
	Blue      = Hue{"#0b63ce", "#5ab0ff"}
	Orange    = Hue{"#d9480f", "#ff922b"}
	Green     = Hue{"#2b8a3e", "#51cf66"}
	Purple    = Hue{"#862e9c", "#da77f2"}
	Ochre     = Hue{"#a87900", "#fcc419"}
	Teal      = Hue{"#0c8599", "#3bc9db"}
	Pink      = Hue{"#c2255c", "#f783ac"}
	Grey      = Hue{"#6b7280", "#9aa4b2"}
	Lime      = Hue{"#5c940d", "#a9e34b"}
	Brown     = Hue{"#8d5a3b", "#c9a58d"}
	Violet    = Hue{"#5f3dc4", "#9775fa"}
	Red       = Hue{"#c92a2a", "#ff8787"}
	Indigo    = Hue{"#4263eb", "#91a7ff"}
	Sky       = Hue{"#1971c2", "#74c0fc"}
	Tangerine = Hue{"#fd7e14", "#ffd8a8"}
	Cyan      = Hue{"#1098ad", "#66d9e8"}
	Plum      = Hue{"#6741d9", "#d0bfff"}
	Olive     = Hue{"#5f6b1a", "#d8f5a2"}
)

// inTurn is the order of At, in which neighbours differ.
var inTurn = []Hue{Blue, Orange, Green, Purple, Ochre, Teal, Pink, Grey, Lime, Brown, Violet, Red}

// others are none of the above: what has chosen its hue keeps it to itself.
var others = []Hue{
	{"#087f5b", "#38d9a9"}, {"#9c36b5", "#e599f7"}, {"#e8590c", "#ffc078"}, {"#364fc7", "#748ffc"}, {"#66a80f", "#c0eb75"},
}

// Of returns the hue of a name that has chosen none. It depends on the name alone, so that what bears
// the name looks the same beside whatever else is drawn.
func Of(name string) Hue {
	hash := fnv.New32a()
	hash.Write([]byte(name))
	return others[hash.Sum32()%uint32(len(others))]
}

// At returns a hue for what bears no name, by its place in a chart. Neighbours differ.
func At(i int) Hue { return inTurn[i%len(inTurn)] }
