// Package plain shows foreign text as it is safe to show: a terminal obeys control characters, and
// characters that turn the direction of writing around let a text look like another.
package plain

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Line returns a text of one line in which such characters are spelled out, as \x1b and \n.
func Line(s string) string { return spelled(s, func(rune) bool { return false }) }

// Text is Line for a text of several lines, whose line ends and tabs stay.
func Text(s string) string {
	return spelled(s, func(r rune) bool { return r == '\n' || r == '\t' })
}

// Address returns an address that cannot be read, quoted, for an error to show, or if it may have a password
// or a token in it what stands for one.
func Address(s string) string {
	if strings.ContainsAny(s, "@?#") {
		return "the URL (not shown, as it may have a password)"
	}
	return strconv.Quote(s)
}

func spelled(s string, stays func(rune) bool) string {
	if strings.IndexFunc(s, func(r rune) bool { return odd(r) && !stays(r) }) < 0 {
		return s
	}
	var out strings.Builder
	for i, r := range s {
		switch {
		case !odd(r) || stays(r):
			out.WriteRune(r)
		case r == '\n':
			out.WriteString(`\n`)
		case r == '\t':
			out.WriteString(`\t`)
		case r == '\r':
			out.WriteString(`\r`)
		case r == unicode.ReplacementChar: // a byte that is no text: some terminals obey 0x9b alone
			if s[i] < 0x80 || strings.HasPrefix(s[i:], string(unicode.ReplacementChar)) {
				out.WriteRune(r)
			} else {
				fmt.Fprintf(&out, `\x%02x`, s[i])
			}
		case r < 0x100:
			fmt.Fprintf(&out, `\x%02x`, r)
		default:
			fmt.Fprintf(&out, `\u%04x`, r)
		}
	}
	return out.String()
}

// odd reports whether a terminal obeys the character, or hides it. ReplacementChar stands for a
// byte that is no text, too.
func odd(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == '\u2028' || r == '\u2029' || r == unicode.ReplacementChar
}
