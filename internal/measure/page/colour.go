package page

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/dewpond/dewpond/internal/measure/palette"
)

// gonum writes colours into the SVG as literals, but the page must change colours in dark mode
// and hide a contender on a click. So charts are drawn in marker colours that nothing else uses,
// and each is replaced by a CSS variable afterwards.
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

// variables returns the CSS variables of the contenders' colours, for a light or a dark page.
func variables(hues []palette.Hue, dark bool) string {
	var b strings.Builder
	for i, h := range hues {
		v := h.Light
		if dark {
			v = h.Dark
		}
		fmt.Fprintf(&b, "--c%d:%s;", i, v)
	}
	return b.String()
}
