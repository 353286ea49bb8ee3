package check

import (
	"bytes"
	"strings"
	"sync"
	"testing"

	"github.com/dewpond/dewpond/misuse"
)

// Without package checks a report goes to standard error as it is, and the first says what else there
// is to be had. With it nothing goes there.
func TestLogToStandardError(t *testing.T) {
	var text bytes.Buffer
	before := stderr
	defer func() { stderr = before }()
	stderr, advertised = &text, sync.Once{}
	r := misuse.Violation{Kind: misuse.DoublePut, Size: 64, Got: Here(), Put: Here(), Pool: "p"}
	Log(r)
	Log(r)
	hint := `import _ "github.com/dewpond/dewpond/checks"`
	if got := text.String(); !strings.HasPrefix(got, r.String()+"\n") || !strings.HasSuffix(got, ")\n"+r.String()+"\n") || strings.Count(got, hint) != 1 {
		t.Errorf("two reports are\n%s", got)
	}
	text.Reset()
	Note("a mistake", "value", "a\tb")
	Inform("it works", "value", "c")
	if got, want := text.String(), "dewpond: a mistake: value is \"a\\tb\"\ndewpond: it works: value is \"c\"\n"; got != want {
		t.Errorf("notes are %q, want %q", got, want)
	}
	text.Reset()
	var reports, notes, information int
	SetLogger(&Logger{func(misuse.Violation) { reports++ }, func(string, string, string) { notes++ }, func(string, string, string) { information++ }})
	defer SetLogger(nil)
	Log(r)
	Note("a mistake", "value", "x")
	Inform("it works", "value", "x")
	if reports != 1 || notes != 1 || information != 1 || text.Len() != 0 {
		t.Errorf("%d reports, %d notes and %d of what works; standard error has %q", reports, notes, information, text.String())
	}
}
