package children

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
)

// sampled returns a guarded block of a pool. Where nothing is guarded it says so, and ends the process.
func sampled(p *dewpond.BytePool) []byte {
	for {
		before := p.Stats()
		if !strings.HasPrefix(before.Guard.Setting, "fault") {
			fmt.Println(before.Guard.Setting)
			os.Exit(0)
		}
		b := p.Get(8000)
		if p.Stats().Guard.Samples > before.Guard.Samples {
			return b
		}
		p.Put(b)
	}
}

// With DEWPOND_GUARD=fault a use after Put is fatal, and the report of that names who did it.
func TestGuardFaultsAreFatal(t *testing.T) {
	if _, ok := role(); ok {
		p := dewpond.MustBytePool(dewpond.BytePoolOptions{})
		defer func() { fmt.Println("recovered", recover()) }()
		b := sampled(p)
		p.Put(b)
		offendHere(func() { b[0]++ })
		os.Exit(0)
	}
	out, err := child(t, "writes late", "DEWPOND_GUARD=fault=1000000").CombinedOutput()
	if err == nil && strings.Contains(string(out), "off (") {
		t.Skip(string(out))
	}
	if err == nil || !strings.Contains(string(out), "unexpected fault address") || !strings.Contains(string(out), "offendHere") {
		t.Errorf("the child ended with %v:\n%s", err, out)
	}
}

// A value of DEWPOND_GUARD that is none is an error in the log, once, and counts as off.
func TestUnknownGuard(t *testing.T) {
	const begins = "the program begins"
	if _, ok := role(); ok {
		fmt.Fprintln(os.Stderr, begins)
		p := dewpond.MustBytePool(dewpond.BytePoolOptions{})
		if s := p.Stats(); !strings.HasPrefix(s.Guard.Setting, "off (") {
			t.Errorf("the pool's Guard is %s", s.Guard.Setting)
		}
		return
	}
	for _, value := range []string{"touched", "fault=0", "off=1"} {
		out, err := child(t, "program", "DEWPOND_GUARD="+value).CombinedOutput()
		before, after, began := strings.Cut(string(out), begins)
		if err != nil || !began || strings.Count(before, "DEWPOND_GUARD") != 1 || strings.Contains(after, "DEWPOND_GUARD") ||
			!strings.Contains(before, "ERROR") || !strings.Contains(before, value) {
			t.Errorf("%s: the child ended with %v:\n%s", value, err, out)
		}
	}
}

// SetGuard has the pools guarded that are made or first used after it, once, and never against the
// environment.
func TestSetGuard(t *testing.T) {
	const notAsked = "off (DEWPOND_GUARD asks for none)"
	guard := func(p *dewpond.BytePool) string { return p.Stats().Guard.Setting }
	which, ok := role()
	if !ok {
		for name, environment := range map[string]string{"alone": "", "against off": "off", "against touch": "touch=1", "against nonsense": "nonsense"} {
			out, err := child(t, name, "DEWPOND_GUARD="+environment).CombinedOutput()
			if err != nil {
				t.Errorf("%s: the child ended with %v:\n%s", name, err, out)
			}
		}
		return
	}
	before := dewpond.MustBytePool(dewpond.BytePoolOptions{})
	old := guard(before)
	var zero dewpond.BytePool
	for _, setting := range []string{"on", "fault=0"} {
		if err := dewpond.SetGuard(setting); err == nil || !strings.Contains(err.Error(), setting) {
			t.Errorf("SetGuard(%q): %v", setting, err)
		}
	}
	for range 2 {
		if err := dewpond.SetGuard("fault=7"); err != nil {
			t.Error(err)
		}
	}
	after := dewpond.MustBytePool(dewpond.BytePoolOptions{})
	zero.Put(zero.Get(100))
	if which != "alone" {
		if err := dewpond.SetGuard("touch"); err != nil || guard(before) != old || guard(after) != old || guard(&zero) != old {
			t.Errorf("%v; %s has become %s, and of pools made later %s and %s", err, old, guard(before), guard(after), guard(&zero))
		}
		return
	}
	if err := dewpond.SetGuard("off"); err == nil || !strings.Contains(err.Error(), "fault=7") {
		t.Errorf("SetGuard(off): %v", err)
	}
	if old != notAsked || guard(before) != old {
		t.Errorf("a pool that was made before: %s, then %s", old, guard(before))
	}
	if g := guard(after); g != guard(&zero) || g == notAsked {
		t.Errorf("a pool that was made after it: %s, and one that was used: %s", g, guard(&zero))
	}
}
