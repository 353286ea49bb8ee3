// Package terminal knows what a terminal can show: how wide it is, whether it has colours.
package terminal

import (
	"os"
	"strconv"

	"golang.org/x/term"
)

// elsewhere is the width of text that does not go to a terminal.
const elsewhere = 120

// A Style is how text is written to one place.
type Style struct {
	Width  int  // columns
	Colour bool // whether it shows colours and bold letters
}

// StyleOf returns the style for a file. COLUMNS in the environment sets the width. There is colour
// on a terminal, unless NO_COLOR is set or the terminal is called dumb.
func StyleOf(f *os.File) Style {
	s := Style{Width: elsewhere}
	if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
		s.Width = w
		s.Colour = os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
	}
	if n, err := strconv.Atoi(os.Getenv("COLUMNS")); err == nil && n > 0 {
		s.Width = n
	}
	return s
}

// Is reports whether a file is a terminal.
func Is(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// Bold makes text stand out.
func (s Style) Bold(text string) string { return s.with("1", text) }

// Green is the colour of a gain.
func (s Style) Green(text string) string { return s.with("32", text) }

// Red is the colour of a loss.
func (s Style) Red(text string) string { return s.with("31", text) }

func (s Style) with(code, text string) string {
	if !s.Colour || text == "" {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}
