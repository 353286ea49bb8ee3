package terminal

import (
	"os"
	"testing"
)

func TestWrap(t *testing.T) {
	for _, test := range []struct {
		prefix, text string
		width        int
		want         string
	}{
		{"- ", "one two three four five", 20, "- one two three four\n  five"},
		{"", "short", 80, "short"},
		{"", "", 80, ""},
		{"", "µs µs µs µs µs µs µs µ", 22, "µs µs µs µs µs µs µs µ"},
		{"", "a-word-that-is-longer-than-the-line and more", 20, "a-word-that-is-longer-than-the-line\nand more"},
	} {
		if got := Wrap(test.prefix, test.text, test.width); got != test.want {
			t.Errorf("Wrap(%q, %q, %d) = %q, want %q", test.prefix, test.text, test.width, got, test.want)
		}
	}
}

// A file is no terminal: it gets no colour, and its width is a wide page's unless COLUMNS is set.
func TestFile(t *testing.T) {
	f, err := os.Create(t.TempDir() + "/out")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for columns, want := range map[string]int{"": elsewhere, "72": 72, "wide": elsewhere, "0": elsewhere} {
		t.Setenv("COLUMNS", columns)
		if got := StyleOf(f); got != (Style{Width: want}) {
			t.Errorf("COLUMNS=%q: %+v, want width %d and no colour", columns, got, want)
		}
	}
	if Is(f) {
		t.Error("a file is a terminal")
	}
}

func TestColour(t *testing.T) {
	on, off := Style{Colour: true}, Style{}
	if got, want := on.Red("loss")+on.Green("gain")+on.Bold("x"), "\x1b[31mloss\x1b[0m\x1b[32mgain\x1b[0m\x1b[1mx\x1b[0m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if got := off.Red("loss") + off.Bold("x") + on.Bold(""); got != "lossx" {
		t.Errorf("%q has colours", got)
	}
}
