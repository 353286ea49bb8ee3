package children

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"strings"
	"testing"

	"github.com/dewpond/dewpond"
	_ "github.com/dewpond/dewpond/checks"
)

// The profile of watched blocks exists before there are any.
func TestProfileExistsFromTheStart(t *testing.T) {
	if _, ok := role(); ok {
		fmt.Println("there is a profile:", pprof.Lookup("dewpond_inuse") != nil)
		os.Exit(0)
	}
	if out, err := child(t, "looks").CombinedOutput(); err != nil || !strings.Contains(string(out), "there is a profile: true") {
		t.Errorf("%v: %s", err, out)
	}
}

// getters get a block or an object in every way that there is. They keep what they get.
var getters = map[string]func(p *dewpond.BytePool, q *dewpond.Pool[account]) any{
	"Get":      func(p *dewpond.BytePool, _ *dewpond.Pool[account]) any { return p.Get(100) },
	"GetLarge": func(p *dewpond.BytePool, _ *dewpond.Pool[account]) any { return p.Get(500_000) },
	"TryGet":   func(p *dewpond.BytePool, _ *dewpond.Pool[account]) any { return must(p.TryGet(100)) },
	"GetContext": func(p *dewpond.BytePool, _ *dewpond.Pool[account]) any {
		return must(p.GetContext(context.Background(), 100))
	},
	"MethodValue": func(p *dewpond.BytePool, _ *dewpond.Pool[account]) any { f := p.Get; return f(100) },
	"Interface": func(p *dewpond.BytePool, _ *dewpond.Pool[account]) any {
		return interface{ Get(int) []byte }(p).Get(100)
	},
	"Lease":       func(p *dewpond.BytePool, _ *dewpond.Pool[account]) any { return p.Lease(100) },
	"Buffer":      func(p *dewpond.BytePool, _ *dewpond.Pool[account]) any { b := p.Buffer(); b.WriteString("x"); return b },
	"Append":      func(p *dewpond.BytePool, _ *dewpond.Pool[account]) any { return p.Append(nil, 1) },
	"Scope":       func(p *dewpond.BytePool, _ *dewpond.Pool[account]) any { s := p.Scope(); s.Get(100); return s },
	"Default":     func(*dewpond.BytePool, *dewpond.Pool[account]) any { return dewpond.Default().Get(100) },
	"Pool.Get":    func(_ *dewpond.BytePool, q *dewpond.Pool[account]) any { return q.Get() },
	"Pool.TryGet": func(_ *dewpond.BytePool, q *dewpond.Pool[account]) any { return must(q.TryGet()) },
	"Pool.GetContext": func(_ *dewpond.BytePool, q *dewpond.Pool[account]) any {
		return must(q.GetContext(context.Background()))
	},
}

// In the profile, what is out belongs to who has called the library: no function of the
// library's is a leaf.
func TestProfileShowsCallers(t *testing.T) {
	if name, ok := role(); ok {
		p, q := dewpond.MustBytePool(dewpond.BytePoolOptions{}), dewpond.MustPool(dewpond.PoolOptions[account]{})
		var out []any
		for range 2 { // the first are misses, the second may hit
			for _, get := range getters {
				out = append(out, get(p, q))
			}
		}
		file := must(os.Create(name))
		must(0, pprof.Lookup("dewpond_inuse").WriteTo(file, 0))
		must(0, file.Close())
		for _, live := range []any{p, q, out} { // what is out of a pool that was collected is not in the profile
			runtime.KeepAlive(live)
		}
		os.Exit(0)
	}
	for _, env := range []string{"all", "sampled=1/1"} {
		name := filepath.Join(t.TempDir(), "inuse")
		if out, err := child(t, name, "DEWPOND_CHECK="+env).CombinedOutput(); err != nil {
			t.Fatalf("%v:\n%s", err, out)
		}
		top, err := exec.Command("go", "tool", "pprof", "-top", "-nodecount=1000", "-nodefraction=0", "-unit=count", name).CombinedOutput()
		if err != nil {
			t.Fatalf("%v:\n%s", err, top)
		}
		_, table, _ := strings.Cut(string(top), "cum%\n")
		leaves := 0
		for line := range strings.Lines(table) {
			if fields := strings.Fields(line); fields[0] != "0" {
				leaves++
				// What the compiler has inlined into the caller has the caller's program counter.
				inlined := fields[len(fields)-1] == "(inline)"
				if !inlined && !strings.HasPrefix(fields[5], "github.com/dewpond/dewpond/instruments/proof/children.init.func") {
					t.Errorf("%s: a leaf is not of the table: %s", env, line)
				}
			}
		}
		if env == "all" && leaves != len(getters) {
			t.Errorf("%d leaves, want %d:\n%s", leaves, len(getters), top)
		}
	}
}
