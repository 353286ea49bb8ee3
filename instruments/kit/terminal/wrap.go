package terminal

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks text into lines of the width behind a prefix, and indents further lines as far. A word
// that is longer than a line stands alone in one.
func Wrap(prefix, text string, width int) string {
	indent := utf8.RuneCountInString(prefix)
	width = max(20, width-indent)
	var lines []string
	line, used := "", 0
	for _, word := range strings.Fields(text) {
		n := utf8.RuneCountInString(word)
		if used > 0 && used+1+n > width {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line += " "
			used++
		}
		line += word
		used += n
	}
	lines = append(lines, line)
	return prefix + strings.Join(lines, "\n"+strings.Repeat(" ", indent))
}
