package report

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/result"
)

// A hue is one contender's colour on a light and on a dark page.
type hue struct{ light, dark string }

// The three that every reader looks for keep their colours in every report.
var named = map[string]hue{
	control:  {"#6b7280", "#9aa4b2"},
	baseline: {"#d9480f", "#ff922b"},
	ours:     {"#0b63ce", "#5ab0ff"},
}

var others = []hue{
	{"#2b8a3e", "#51cf66"}, {"#862e9c", "#da77f2"}, {"#0c8599", "#3bc9db"}, {"#a87900", "#fcc419"},
	{"#c2255c", "#f783ac"}, {"#5f3dc4", "#9775fa"}, {"#5c940d", "#a9e34b"}, {"#8d5a3b", "#c9a58d"},
	{"#c92a2a", "#ff8787"},
}

func hues(d result.Document) []hue {
	var out []hue
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

// gonum writes colours into the SVG as literals, but the page must recolour for
// dark mode and hide a contender on a click. So charts are drawn in marker
// colours that nothing else uses, and each becomes a CSS variable afterwards.
var (
	ink  = color.RGBA{R: 1, G: 2, B: 1, A: 255}
	rule = color.RGBA{R: 1, G: 2, B: 2, A: 255}
)

func marker(i int) color.RGBA { return color.RGBA{R: 1, G: 1, B: uint8(i), A: 255} }

func recolour(svg string, contenders int) string {
	pairs := []string{literal(ink), "var(--ink)", literal(rule), "var(--rule)"}
	for i := range contenders {
		pairs = append(pairs, literal(marker(i)), fmt.Sprintf("var(--c%d)", i))
	}
	return strings.NewReplacer(pairs...).Replace(svg)
}

func literal(c color.RGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// variables declares the contenders' colours for one scheme.
func variables(hs []hue, dark bool) string {
	var b strings.Builder
	for i, h := range hs {
		v := h.light
		if dark {
			v = h.dark
		}
		fmt.Fprintf(&b, "--c%d:%s;", i, v)
	}
	return b.String()
}
