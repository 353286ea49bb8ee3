package plainly

import (
	"strings"
	"testing"
)

func TestPlainly(t *testing.T) {
	var out strings.Builder
	p := &writer{To: &out}
	const text = "a\tb µs 日本 \x1b]0;title\x07\n\x9b31m \xf0\x9f\x98\x80 end\n"
	for _, b := range []byte(text) { // characters in pieces
		if n, err := p.Write([]byte{b}); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	if want := "a\tb µs 日本 \\x1b]0;title\\x07\n\\x9b31m \U0001F600 end\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
}
