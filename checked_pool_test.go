package dewpond_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
)

// An objectOffence is an offence in a Pool.
type objectOffence struct {
	name, kind        string
	got, put, offence string
	options           dewpond.PoolOptions[account]
	commit            func(p *dewpond.Pool[account])
}

//go:noinline
func getObjectHere(p *dewpond.Pool[account]) *account { return p.Get() }

//go:noinline
func putObjectHere(p *dewpond.Pool[account], v *account) { p.Put(v) }

// objectOffences is what CheckAll promises to catch in a Pool.
var objectOffences = []objectOffence{
	{name: "double Put", kind: "double Put", got: "getObjectHere", put: "putObjectHere", offence: "offendHere", commit: func(p *dewpond.Pool[account]) {
		v := getObjectHere(p)
		putObjectHere(p, v)
		offendHere(func() { p.Put(v) })
	}},
	{name: "double Put out of quarantine", kind: "double Put", got: "getObjectHere", put: "putObjectHere", offence: "offendHere", commit: func(p *dewpond.Pool[account]) {
		v := getObjectHere(p)
		putObjectHere(p, v)
		all := make([]*account, 1000)
		for i := range all { // v is among them, where a collection has emptied the quarantine
			all[i] = getObjectHere(p)
		}
		for _, v := range all {
			putObjectHere(p, v)
		}
		offendHere(func() { p.Put(v) })
	}},
	{name: "double Put of a stranger", kind: "double Put", put: "putObjectHere", offence: "offendHere", commit: func(p *dewpond.Pool[account]) {
		v := new(account)
		putObjectHere(p, v)
		offendHere(func() { p.Put(v) })
	}},
	{name: "double Put, with a Limit", kind: "double Put", got: "getObjectHere", put: "putObjectHere", offence: "offendHere",
		options: dewpond.PoolOptions[account]{Limit: 3}, commit: func(p *dewpond.Pool[account]) {
			v := getObjectHere(p)
			putObjectHere(p, v)
			offendHere(func() { p.Put(v) })
		}},
	{name: "write after Put, found by Get", kind: "write after Put", got: "getObjectHere", put: "putObjectHere", offence: "offendHere", commit: func(p *dewpond.Pool[account]) {
		v := getObjectHere(p)
		putObjectHere(p, v)
		v.Email = "late"
		offendHere(func() {
			for range 1000 {
				p.Put(p.Get())
			}
		})
	}},
	{name: "write after Put, found by TryGet, with a Limit", kind: "write after Put", got: "getObjectHere", put: "putObjectHere", offence: "offendHere",
		options: dewpond.PoolOptions[account]{Limit: 3, Reset: func(v *account) { v.ID = 0 }}, commit: func(p *dewpond.Pool[account]) {
			v := getObjectHere(p)
			v.Name = "stays"
			putObjectHere(p, v)
			v.ID++
			offendHere(func() { must(p.TryGet()) })
		}},
	{name: "write after Put, found by Trim", kind: "write after Put", got: "getObjectHere", put: "putObjectHere", commit: func(p *dewpond.Pool[account]) {
		v := getObjectHere(p)
		putObjectHere(p, v)
		v.ID++
		p.Trim()
	}},
	{name: "write after Put, found by Trim, out of quarantine", kind: "write after Put", got: "getObjectHere", put: "putObjectHere",
		options: dewpond.PoolOptions[account]{MaxIdle: 2}, commit: func(p *dewpond.Pool[account]) {
			v := getObjectHere(p)
			putObjectHere(p, v)
			v.ID++
			p.Trim()
		}},
	{name: "write after Put, found by Close", kind: "write after Put", got: "getObjectHere", put: "putObjectHere", commit: func(p *dewpond.Pool[account]) {
		v := getObjectHere(p)
		putObjectHere(p, v)
		v.ID++
		p.Close()
	}},
	{name: "leak", kind: "leak", got: "getObjectHere", commit: func(p *dewpond.Pool[account]) {
		getObjectHere(p)
		untilCaught()
	}},
}

// Each offence is caught, as in TestOffencesAreCaught.
func TestPoolOffencesAreCaught(t *testing.T) {
	for _, o := range objectOffences {
		t.Run(o.name, func(t *testing.T) {
			expectCaught(t, o.kind, o.got, o.put, o.offence, func(tell func(dewpond.Violation)) {
				o.options.OnViolation = tell
				p := dewpond.MustPool(o.options)
				defer p.Close()
				o.commit(p)
			})
		})
	}
}

// Of correct use nothing is reported, whatever it is, and the counts are right.
func TestCorrectUseOfAPoolIsNotReported(t *testing.T) {
	onlyOnHeap(t, "objects have no other memory")
	rounds := 3000
	if testing.Short() {
		rounds = 300
	}
	reset := func(v *account) { v.ID, v.Email = 0, "" }
	for name, o := range map[string]dewpond.PoolOptions[account]{
		"zero":      {},
		"small":     {MaxIdle: 5},
		"none":      {MaxIdle: dewpond.NoIdle},
		"new":       {New: func() *account { return &account{Name: "new"} }, Reset: reset},
		"keep":      {Keep: func(v *account) bool { return v.ID%7 != 0 }},
		"limit":     {Limit: 6},
		"all of it": {Limit: 6, MaxIdle: 9, Keep: func(v *account) bool { return v.ID%7 != 0 }, Reset: reset, Drop: func(v *account) { v.Email = "dropped" }},
	} {
		for _, mode := range []dewpond.CheckMode{dewpond.CheckAll, dewpond.CheckSampled} {
			if mode == dewpond.CheckSampled {
				t.Setenv("DEWPOND_CHECK", "sampled=1/4")
			} else {
				t.Setenv("DEWPOND_CHECK", "")
			}
			o.Check = mode
			o.OnViolation = func(v dewpond.Violation) { t.Error(v) }
			p := newObjects(t, o)
			var wg go125.WaitGroup
			for g := range 4 {
				wg.Go(func() {
					for i := range rounds {
						a, b := p.Get(), must(p.GetContext(context.Background()))
						c, err := p.TryGet()
						a.ID, b.ID, b.Email = g+i, i, "somebody"
						p.Put(b)
						if err == nil {
							p.Put(c)
						}
						p.Put(a)
						if i%100 == 0 && o.Limit == 0 {
							p.Put(new(account)) // a stranger is welcome
						}
						if i%1000 == 0 {
							p.Trim()
							runtime.GC()
						}
					}
				})
			}
			wg.Wait()
			s := p.Stats()
			// An object that a collection's tick has in hand may be counted twice. If there
			// are more, the test runs into its timeout.
			for o.MaxIdle > 0 && s.Classes[0].Idle > o.MaxIdle {
				time.Sleep(time.Millisecond)
				s = p.Stats()
			}
			if s.InUseBytes != 0 || s.Violations != 0 || s.DroppedDouble != 0 || s.Puts < s.Gets {
				t.Errorf("%s, mode %d: %+v", name, mode, s)
			}
			p.Trim()
			for p.Stats().IdleBytes != 0 { // a collection's tick had it on its way out of quarantine
				time.Sleep(time.Millisecond)
				p.Trim()
			}
			if s := p.Stats(); s.Trimmed+s.DroppedFull+s.DroppedOversize+s.Hits < s.Puts {
				t.Errorf("%s, mode %d, after Trim: %+v", name, mode, s)
			}
		}
	}
}

// A second Put is refused and counted: nobody resets or drops the object, and in a
// pool with a Limit it does not come back twice.
func TestPoolRefusesDoublePut(t *testing.T) {
	resets, drops, reports := 0, 0, 0
	p := newObjects(t, dewpond.PoolOptions[account]{
		Limit: 2, Check: dewpond.CheckAll,
		Reset: func(*account) { resets++ }, Drop: func(*account) { drops++ },
		OnViolation: func(v dewpond.Violation) { reports++ },
	})
	a, b := must(p.TryGet()), must(p.TryGet())
	p.Put(a)
	p.Put(a)
	p.Put(a)
	a = must(p.TryGet())
	if _, err := p.TryGet(); !errors.Is(err, dewpond.ErrExhausted) {
		t.Errorf("with two out: %v", err)
	}
	s := p.Stats()
	if resets != 1 || drops != 0 || reports != 2 || s.DroppedDouble != 2 || s.Violations != 2 || s.Puts != 3 || s.InUseBytes != 2*int64(s.Classes[0].Size) {
		t.Errorf("%d resets, %d drops, %d reports, %+v", resets, drops, reports, s)
	}
	p.Put(a)
	p.Put(b)
}

// An object whose Keep, Reset or Drop panics, or that is dropped, is watched no more,
// and can come back as any stranger.
func TestPoolForgetsWhatItDrops(t *testing.T) {
	var fail string
	panicIn := func(where string) {
		if fail == where {
			panic(where)
		}
	}
	for _, limit := range []int{0, 1} {
		p := newObjects(t, dewpond.PoolOptions[account]{
			Limit: limit, Check: dewpond.CheckAll,
			Keep:        func(v *account) bool { panicIn("keep"); v.Name = "kept"; return fail != "refuse" },
			Reset:       func(v *account) { panicIn("reset"); v.ID++ },
			Drop:        func(v *account) { panicIn("drop"); v.Name = "dropped" },
			OnViolation: func(v dewpond.Violation) { t.Error(v) },
		})
		for _, fail = range []string{"keep", "reset", "drop", "refuse", ""} {
			v := p.Get()
			for range 2 {
				func() {
					defer func() { recover() }()
					if p.Put(v); fail == "drop" {
						p.Trim()
					}
				}()
				if fail == "" {
					break
				}
			}
		}
		fail = ""
		if s := p.Stats(); s.DroppedDouble != 0 || s.DroppedOversize != 2 {
			t.Errorf("%+v", s)
		}
	}
}

// One in so many is watched, and what it catches is the same.
func TestSampledPoolCatches(t *testing.T) {
	t.Setenv("DEWPOND_CHECK", "sampled=1/4")
	found := map[dewpond.ViolationKind]int{}
	p := newObjects(t, dewpond.PoolOptions[account]{IdleTimeout: dewpond.NoDecay, OnViolation: func(v dewpond.Violation) {
		found[v.Kind]++
		if v.Size == 0 || !strings.HasPrefix(v.Pool, t.Name()) || v.Got == nil || v.Put == nil {
			t.Error(v)
		}
	}})
	const rounds = 4000
	for i := range rounds {
		v := p.Get()
		p.Put(v)
		if i%2 == 0 {
			v.ID++ // too late
		}
	}
	p.Trim()
	if n := found[dewpond.WriteAfterPut]; n < rounds/16 || n > rounds/4 || p.Stats().Violations != uint64(n) {
		t.Errorf("of %d late writes to one in four: %v", rounds/2, found)
	}
}

// A mode that is none is not accepted, and without one nothing is watched.
func TestPoolCheckModes(t *testing.T) {
	if text := panics(func() { dewpond.MustPool(dewpond.PoolOptions[account]{Check: dewpond.CheckAll + 1}) }); !strings.Contains(text, "Check 3") {
		t.Errorf("panics with %q", text)
	}
	for env, watched := range map[string]bool{"": true, "off": false, "all": true, "ALL": false} {
		t.Setenv("DEWPOND_CHECK", env)
		n := 0
		p := newObjects(t, dewpond.PoolOptions[account]{Check: dewpond.CheckAll, OnViolation: func(dewpond.Violation) { n++ }})
		v := p.Get()
		p.Put(v)
		v.ID++
		p.Trim()
		if (n == 1) != watched {
			t.Errorf("%q: %d violations", env, n)
		}
	}
}
