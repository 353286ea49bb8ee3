package plain

import "testing"

func TestPlain(t *testing.T) {
	for _, c := range []struct{ from, line, text string }{
		{"µs, 日本語 and \"quotes\" \\", "", ""},
		{"\x1b]0;title\x07\x1b[2J", `\x1b]0;title\x07\x1b[2J`, `\x1b]0;title\x07\x1b[2J`},
		{"a\n\tb\rc", `a\n\tb\rc`, "a\n\tb" + `\rc`},
		{"\u202eabc\u2066\u2028", `\u202eabc\u2066\u2028`, `\u202eabc\u2066\u2028`},
		{"\u009b31m", `\x9b31m`, `\x9b31m`},
		{"\x9b31m", `\x9b31m`, `\x9b31m`}, // the same as one byte, which is no text
		{"\ufffd", "\ufffd", "\ufffd"},
		{"\x7f\x00", `\x7f\x00`, `\x7f\x00`},
	} {
		if c.line == "" {
			c.line, c.text = c.from, c.from
		}
		if got := Line(c.from); got != c.line {
			t.Errorf("Line(%q) = %q, want %q", c.from, got, c.line)
		}
		if got := Text(c.from); got != c.text {
			t.Errorf("Text(%q) = %q, want %q", c.from, got, c.text)
		}
		if got := Line(Line(c.from)); got != c.line {
			t.Errorf("twice %q is %q", c.from, got)
		}
	}
}

func TestAddress(t *testing.T) {
	for from, want := range map[string]string{
		"ftp://x\x1b":         `"ftp://x\x1b"`,
		"http://joe:se cret@": "the URL (not shown, as it may have a password)",
		"http://h x/?t=1":     "the URL (not shown, as it may have a password)",
	} {
		if got := Address(from); got != want {
			t.Errorf("%q: %s, want %s", from, got, want)
		}
	}
}
