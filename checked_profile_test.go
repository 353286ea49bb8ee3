package dewpond_test

import (
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
)

//go:noinline
func getAndPutHere(p *dewpond.BytePool) { p.Put(p.Get(2000)) }

// What is out of a watched pool is in a profile, by the stack of its Get, and what is put back
// is not.
func TestInUseProfile(t *testing.T) {
	p := newPool(t, dewpond.BytePoolOptions{Check: dewpond.CheckAll})
	out := getHere(p, 1000)
	getAndPutHere(p)
	profile := pprof.Lookup("dewpond_inuse")
	if profile == nil {
		t.Fatal("there is no profile dewpond_inuse")
	}
	var text strings.Builder
	if err := profile.WriteTo(&text, 1); err != nil {
		t.Fatal(err)
	}
	if s := text.String(); !strings.Contains(s, "dewpond_test.getHere") || strings.Contains(s, "dewpond_test.getAndPutHere") {
		t.Errorf("want getHere in the profile, and not getAndPutHere:\n%s", s)
	}
	p.Put(out)
}
