package dewpond_test

import (
	"bytes"
	"encoding/json"
	"log"
	"log/slog"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
)

// logged returns what the program's logger writes while f runs. A nil handler is the one that
// a program has which sets none.
func logged(handler func(*bytes.Buffer) slog.Handler, f func()) string {
	var text bytes.Buffer
	if handler == nil {
		defer log.SetOutput(os.Stderr)
		defer log.SetFlags(log.Flags())
		log.SetOutput(&text)
		log.SetFlags(0)
	} else {
		defer slog.SetDefault(slog.Default())
		slog.SetDefault(slog.New(handler(&text)))
	}
	f()
	return text.String()
}

func textHandler(to *bytes.Buffer) slog.Handler { return slog.NewTextHandler(to, nil) }

func jsonHandler(to *bytes.Buffer) slog.Handler { return slog.NewJSONHandler(to, nil) }

// otherHandler is one that the library does not know.
func otherHandler(to *bytes.Buffer) slog.Handler {
	return struct{ slog.Handler }{slog.NewTextHandler(to, nil)}
}

// Without OnViolation each pair of stacks is logged once, and every violation counts.
func TestViolationsAreLoggedOnce(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Name: "logged", Check: dewpond.CheckAll})
	text := logged(textHandler, func() {
		b := p.Get(100)
		p.Put(b)
		for range 5 {
			p.Put(b)
		}
		p.Put(b) // from another place
	})
	if n := strings.Count(text, "double Put"); n != 2 {
		t.Errorf("logged %d times:\n%s", n, text)
	}
	if s := p.Stats(); s.Violations != 6 || !strings.Contains(text, "logged") {
		t.Errorf("Violations %d", s.Violations)
	}
}

// Where a handler writes for persons, each frame of the stacks is on a line of its own, and
// no line is escaped. Where it does not, they are a field.
func TestLogIsReadable(t *testing.T) {
	frame := `github.com/dewpond/dewpond_test.putTwice /\S+/violation_log_test.go:\d+`
	for _, c := range []struct {
		name    string
		handler func(*bytes.Buffer) slog.Handler
		want    string
	}{
		{"none", nil, `(?s)^ERROR dewpond: double Put: 128 bytes of pool "read"\ngot at\n\tgithub.com/dewpond/dewpond_test.putTwice\n\t\t/\S+/violation_log_test.go:\d+\n` +
			`.*\nput back \S+ ago at\n.*\nput back again at\n\tgithub.com/dewpond/dewpond_test.putTwice\n`},
		{"text", textHandler, `(?s)^\S+ level=ERROR msg="dewpond: double Put: 128 bytes of pool \\"read\\"" pool=read age=\S+\n\S+ level=ERROR msg="dewpond: got at"\n` +
			`\S+ level=ERROR msg="dewpond:     ` + frame + `"\n.*msg="dewpond: put back again at"\n\S+ level=ERROR msg="dewpond:     ` + frame + `"\n`},
		{"another", otherHandler, `^\S+ level=ERROR msg="dewpond: double Put" pool=read size=128 age=\S+ got="\[` + frame + ` [^\n]*\]" put="\[` + frame + ` [^\n]*\]" offence="\[` + frame + ` [^\n]*\]"\n$`},
	} {
		text := logged(c.handler, putTwice)
		if !regexp.MustCompile(c.want).MatchString(text) {
			t.Errorf("%s handler: want %s\ngot\n%s", c.name, c.want, text)
		}
	}
	var record struct {
		Pool              string
		Size              int
		Got, Put, Offence []string
	}
	text := logged(jsonHandler, putTwice)
	if err := json.Unmarshal([]byte(text), &record); err != nil {
		t.Fatalf("%v:\n%s", err, text)
	}
	for _, stack := range [][]string{record.Got, record.Put, record.Offence} {
		if len(stack) < 2 || !regexp.MustCompile("^"+frame+"$").MatchString(stack[0]) {
			t.Errorf("a stack is %q:\n%s", stack, text)
		}
	}
	if record.Size != 128 {
		t.Errorf("%+v", record)
	}
}

//go:noinline
func putTwice() {
	p := must(makePool(dewpond.BytePoolOptions{Name: "read", Check: dewpond.CheckAll}))
	defer p.Close()
	b := p.Get(100)
	p.Put(b)
	p.Put(b)
}
