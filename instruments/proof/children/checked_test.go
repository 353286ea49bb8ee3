package children

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/offheap"
)

// A value of DEWPOND_CHECK that is no mode is an error in the log, once, before the
// program does anything, and every pool works and watches nothing.
func TestUnknownCheckMode(t *testing.T) {
	const begins = "the program begins"
	if _, ok := role(); ok {
		fmt.Fprintln(os.Stderr, begins)
		dewpond.Default().Put(dewpond.Default().Get(100))
		p := dewpond.MustBytePool(dewpond.BytePoolOptions{Check: dewpond.CheckAll})
		p.Put(p.Get(100))
		q := dewpond.MustPool(dewpond.PoolOptions[account]{Check: dewpond.CheckAll})
		v := q.Get()
		q.Put(v)
		q.Put(v)
		if n := p.Stats().Violations + q.Stats().Violations; n != 0 {
			t.Errorf("%d violations", n)
		}
		return
	}
	for _, value := range []string{"ALL", "sampled=7", "sampled=1/0", "all=1"} {
		out, err := child(t, "program", "DEWPOND_CHECK="+value).CombinedOutput()
		before, after, began := strings.Cut(string(out), begins)
		if err != nil || !began || strings.Count(before, "DEWPOND_CHECK") != 1 || strings.Contains(after, "DEWPOND_CHECK") ||
			!strings.Contains(before, "ERROR") || !strings.Contains(before, value) {
			t.Errorf("%s: the child ended with %v:\n%s", value, err, out)
		}
	}
}

//go:noinline
func offendHere(f func()) { f() }

// Without ExplainFaults a fault is fatal, and names only the code that touched the block.
func TestFaultsAreFatal(t *testing.T) {
	p := must(offheap.NewBytePool(dewpond.BytePoolOptions{Check: dewpond.CheckAll}))
	if _, ok := role(); ok {
		defer func() { fmt.Println("recovered", recover()) }()
		b := p.Get(100)
		p.Put(b)
		offendHere(func() { b[0]++ })
		os.Exit(0)
	}
	if p.Stats().OffHeap.Reserved == 0 {
		t.Skip("nothing is mapped here, so idle blocks do not fault")
	}
	out, err := child(t, "writes late").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "unexpected fault address") || !strings.Contains(string(out), "offendHere") {
		t.Errorf("the child ended with %v:\n%s", err, out)
	}
}
