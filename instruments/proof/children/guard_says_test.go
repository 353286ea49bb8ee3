package children

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
)

// told is a handler of a log, which passes its records on.
type told chan slog.Record

func (c told) Enabled(context.Context, slog.Level) bool      { return true }
func (c told) Handle(_ context.Context, r slog.Record) error { c <- r; return nil }
func (c told) WithAttrs([]slog.Attr) slog.Handler            { return c }
func (c told) WithGroup(string) slog.Handler                 { return c }
func (c told) text(r slog.Record) (text string) {
	text = fmt.Sprint(r.Level, " ", r.Message)
	r.Attrs(func(a slog.Attr) bool { text += " " + a.String(); return true })
	return text
}

// A program with DEWPOND_GUARD says once whether that does anything: with the first guarded block, or why there
// is none. One without says nothing, also if it asks for blocks from within.
func TestGuardSaysWhetherItWorks(t *testing.T) {
	which, ok := role()
	if !ok {
		for _, c := range []struct {
			role, environment, check string
			lines, checked           int // of the lines one may say that DEWPOND_CHECK is why
		}{
			{"says", "touch=1000000", "", 1, 0},
			{"says", "fault=1000000", "", 1, 0},
			{"says", "touch=1000000", "off", 1, 0},
			{"says", "touch=1000000", "sampled", 1, 1},
			{"says", "touch", "all", 1, 1},
			{"is off", "off", "", 0, 0},
			{"is off", "off", "sampled", 0, 0},
			{"asks from within", "", "", 0, 0},
		} {
			out, err := child(t, c.role, "DEWPOND_GUARD="+c.environment, "DEWPOND_CHECK="+c.check).CombinedOutput()
			text := string(out)
			works := strings.Count(text, "INFO dewpond: the first of about 1e+06 Gets a second has a guarded block")
			not := strings.Count(text, "ERROR dewpond: no block is guarded")
			checked := strings.Count(text, "no block is guarded (DEWPOND_CHECK is set, and a checked pool guards none)")
			if err != nil || works+not != c.lines || checked != c.checked || strings.Count(strings.ReplaceAll(text, `"`, ""), "DEWPOND_GUARD="+c.environment) != c.lines { // slog quotes some
				t.Errorf("DEWPOND_GUARD=%s DEWPOND_CHECK=%s: the child that %s ended with %v. Want %d lines, %d of DEWPOND_CHECK:\n%s",
					c.environment, c.check, c.role, err, c.lines, c.checked, text)
			}
		}
		return
	}
	if which == "asks from within" {
		if err := dewpond.SetGuard("touch=1000000"); err != nil {
			t.Error(err)
		}
	}
	says := make(told, 10)
	slog.SetDefault(slog.New(says))
	p := dewpond.MustBytePool(dewpond.BytePoolOptions{})
	if strings.HasPrefix(p.Stats().Guard.Setting, "off (") {
		return // for good: if anything is said of that, then before main
	}
	for len(says) == 0 {
		p.Put(p.Get(100))
		if s := p.Stats(); which != "says" && (s.Guard.Samples > 50 || strings.HasPrefix(s.Guard.Setting, "off (")) {
			return
		}
		runtime.Gosched()
	}
	fmt.Println(says.text(<-says))
}
