package workload

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"github.com/dewpond/dewpond/cmd/dewpond/internal/contender"
	"github.com/dewpond/dewpond/instruments/kit/result"
	"github.com/dewpond/dewpond/misuse"
)

// misused has 40 seeds of each kind, and so little traffic that no seed's block gets another owner
// before it is misused, however slow the machine is.
func misused(name string) Spec {
	sp := spec(Misuse, name)
	sp.Seeds, sp.Goroutines, sp.Rate = 40, 1, 1
	return sp
}

// misuseRound runs a round. There need not be an operation in it.
func misuseRound(t *testing.T, sp Spec) result.Round {
	t.Helper()
	if raceEnabled {
		t.Skip("it races by design")
	}
	r, err := Run(context.Background(), Misuse, sp)
	if err != nil {
		t.Fatal(err)
	}
	if want := float64(3 * sp.Seeds); r.Figures["seeded"] != want {
		t.Fatalf("%s: %v seeds, want %v", sp.Contender, r.Figures["seeded"], want)
	}
	return r
}

// Checked mode finds what is put back twice and what is written after Put, and off the heap also what
// is read. Without checks, and without dewpond, nothing is found.
func TestMisuse(t *testing.T) {
	type found struct{ put, write, read, wrong float64 }
	offheap := found{40, 40, 40, 0}
	if runtime.GOOS != "linux" { // it is on the heap
		offheap.read = 0
	}
	for _, test := range []struct {
		contender, check string
		want             found
	}{
		{"dewpond", "", found{40, 40, 0, 0}},
		{"dewpond", "off", found{}},
		{"dewpond-sampled", "off", found{}},
		{"dewpond-offheap", "", offheap},
		{"syncpool-class", "", found{}},
		{"make", "", found{}},
		{"nop", "", found{}},
	} {
		t.Run(test.contender+test.check, func(t *testing.T) {
			t.Setenv("DEWPOND_CHECK", test.check)
			f := misuseRound(t, misused(test.contender)).Figures
			got := found{f["double_put_found"], f["write_after_put_found"], f["read_after_put_found"], f["false_reports"]}
			if got != test.want {
				t.Errorf("found %+v, want %+v", got, test.want)
			}
		})
	}
}

// Who watches one Get in two finds some of the seeds. All or none of 40 is as likely as 1 in 2 to the
// power of 39.
func TestMisuseSampled(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "sampled=1/2")
	f := misuseRound(t, misused("dewpond-sampled")).Figures
	for _, name := range []string{"double_put_found", "write_after_put_found"} {
		if n := f[name]; n <= 0 || n >= 40 {
			t.Errorf("%s is %v of 40, want some of them", name, n)
		}
	}
	t.Setenv("DEWPOND_CHECK", "") // one in 1024
	f = misuseRound(t, misused("dewpond-sampled")).Figures
	if n := f["double_put_found"] + f["write_after_put_found"]; n > 20 {
		t.Errorf("%v of 80 are found by who watches one Get in 1024", n)
	}
}

// The seeds spoil blocks of the traffic where nothing refuses them. The round goes on.
func TestMisuseSpoils(t *testing.T) {
	if raceEnabled {
		t.Skip("it races by design")
	}
	sp := spec(Misuse, "broken")
	sp.Mix = Mix{{8192, 100}}
	for ; ; sp.Duration *= 2 { // until there is traffic; if there never is, the test runs into its timeout
		p := &broken{}
		j := NewJob(context.Background(), sp, func(contender.Options) contender.Pool { return p })
		if err := runMisuse(j); err != nil {
			t.Fatal(err)
		}
		if j.Result.Ops < 100 {
			continue
		}
		// All blocks are one: those that each client holds in the end, and most that it puts back.
		if n, want := j.Result.Figures["blocks_spoilt"], float64(4*holds+j.Result.Ops/2); n < want {
			t.Errorf("%v blocks are spoilt where all are one, want %v and more", n, want)
		}
		return
	}
}

// A pool that reports what nobody did has false reports, and finds nothing.
func TestMisuseFalseReports(t *testing.T) {
	sp := misused("liar")
	j := NewJob(context.Background(), sp, func(o contender.Options) contender.Pool { return liar{o.OnViolation} })
	if err := runMisuse(j); err != nil {
		t.Fatal(err)
	}
	f := j.Result.Figures
	if wrong := f["false_reports"]; wrong < 3*40 || f["double_put_found"]+f["write_after_put_found"]+f["read_after_put_found"] != 0 {
		t.Errorf("a pool that reports each Put as a leak: %v", f)
	}
}

type liar struct{ on func(misuse.Violation) }

func (p liar) View() contender.View      { return p }
func (p liar) Get(n int) contender.Block { return contender.Block{Bytes: make([]byte, n)} }
func (p liar) Put(contender.Block) {
	if p.on != nil {
		p.on(misuse.Violation{Kind: misuse.Leak})
	}
}
func (p liar) Loop(int, int) {}

// A report counts for one seed, once: the one whose mark was written, or whose misuse is under way
// in the goroutine that reports.
func TestFinder(t *testing.T) {
	f := newFinder()
	counts := func(wantFound, wantWrong int) {
		t.Helper()
		if found := f.found[doublePut] + f.found[writeAfterPut] + f.found[readAfterPut]; found != wantFound || f.wrong != wantWrong {
			t.Errorf("%d found and %d false, want %d and %d", found, f.wrong, wantFound, wantWrong)
		}
	}
	written := func(mark string) misuse.Violation {
		return misuse.Violation{Kind: misuse.WriteAfterPut, New: []byte(mark)}
	}
	f.report(written("w0000001"))
	counts(0, 1) // not written yet
	f.begin(&seed{misdeed: writeAfterPut, mark: "w0000001"})
	f.end()
	f.report(written("w0000002"))
	counts(0, 2) // somebody else's
	f.report(written("w0000001"))
	counts(1, 2)
	f.report(written("w0000001"))
	counts(1, 3) // a second time

	twice := &seed{misdeed: doublePut}
	view := reporter{f.report}
	f.begin(twice)
	view.Put(contender.Block{})
	counts(1, 4) // from elsewhere meanwhile
	twice.misuse(view)
	counts(2, 4)
	f.end()
	twice.misuse(view)
	counts(2, 5) // none is under way
	f.begin(&seed{misdeed: readAfterPut})
	twice.misuse(view)
	counts(2, 6) // of another kind
}

// A reporter calls each Put a double Put, with its stack.
type reporter struct{ on func(misuse.Violation) }

func (r reporter) Get(int) contender.Block { return contender.Block{} }
func (r reporter) Loop(int, int)           {}
func (r reporter) Put(contender.Block) {
	pcs := make([]uintptr, 32)
	r.on(misuse.Violation{Kind: misuse.DoublePut, Offence: pcs[:runtime.Callers(1, pcs)]})
}

// Each seed is put back before it is misused, and not later than that.
func TestSow(t *testing.T) {
	const late = 5 * time.Millisecond
	steps := sow(100, 50*time.Millisecond, late, rand.New(rand.NewPCG(1, 2)))
	if len(steps) != 2*3*100 {
		t.Fatalf("%d steps, want two for each of 300 seeds", len(steps))
	}
	put := map[*seed]time.Duration{}
	last := time.Duration(0)
	for _, s := range steps {
		if s.at < last || s.at > 50*time.Millisecond {
			t.Errorf("a step at %v follows one at %v", s.at, last)
		}
		last = s.at
		at, ok := put[s.seed]
		switch {
		case !s.late:
			put[s.seed] = s.at
		case !ok || s.at-at > late:
			t.Errorf("the misuse at %v follows a Put at %v, %v", s.at, at, ok)
		}
	}
}
