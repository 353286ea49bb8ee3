package experiments

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/instruments/lab/internal/experiment"
	"github.com/dewpond/dewpond/misuse"
	"github.com/dewpond/dewpond/offheap"
)

// misused does to each pool what a caller must not do, and looks at what comes of it.
var misused = experiment.Experiment{
	ID:       "misuse",
	Question: "What do sync.Pool and dewpond do when a caller breaks the rules?",
	Claims: []experiment.Claim{{
		ID:          "misuse/panic",
		Text:        "sync.Pool notices a wrong Put by itself, and panics with “sync: inconsistent pool state”",
		Publication: sizing,
		Judge:       judgeMisusePanic,
		Reach:       experiment.Reach{Holds: experiment.Standing{experiment.At("sync.Pool", ""): experiment.At("a pool that panics", "")}, Fails: experiment.Itself()},
	}, {
		ID:          "misuse/refused",
		Text:        "off the heap and in checked mode a pool sees misuse, and gives no block two owners",
		Publication: ours,
		Judge:       judgeMisuseRefused,
		Reach:       experiment.Reach{Holds: experiment.Itself(), Fails: experiment.Standing{experiment.At("dewpond checked", ""): experiment.At("sync.Pool", "")}},
	}},
	Cases:  []string{"sync.Pool", "dewpond", "dewpond off the heap", "dewpond checked", panicking},
	Rounds: 2,
	Run:    runMisuse,
	Plots: []experiment.Plot{
		{Figure: "two_owners", Title: "Blocks with two owners, after a double Put each", Note: "fewer is better"},
		{Figure: "noticed", Title: "Kinds of misuse that were noticed, of five", Note: "more is better"},
	},
}

// panicking is a pool that does what is claimed of sync.Pool.
const panicking = "a pool that panics"

// The kinds of misuse, each the name of a figure that is 1 if the pool noticed it.
var misuses = []string{"double_put", "foreign_put", "interior_put", "write_after_put", "wrong_cap"}

// A misusable pool is one that a caller can misuse.
type misusable struct {
	get func() []byte
	put func([]byte)
	// close ends the pool.
	close func()
	// noticed returns how much misuse the pool has refused or reported so far.
	noticed func() uint64
}

const misuseSize = 4096

func runMisuse(r *experiment.Run) error {
	panics := 0
	noticed := 0.0
	for _, kind := range misuses {
		p := misusablePool(r.Case)
		before := p.noticed()
		if panicked := attempt(func() { commit(kind, p) }); panicked {
			panics++
		}
		saw := 0.0
		if p.noticed() > before {
			saw = 1
		}
		r.Set(kind, saw)
		noticed += saw
	}
	r.Set("noticed", noticed)
	r.Set("panics", float64(panics))
	if r.Case == panicking {
		return nil
	}
	r.Set("two_owners", float64(twoOwners(misusablePool(r.Case), r.Count(4000))))
	return nil
}

// attempt reports whether f panicked.
func attempt(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

// commit misuses a pool in one way.
func commit(kind string, p misusable) {
	b := p.get()
	switch kind {
	case "double_put":
		p.put(b)
		p.put(b)
	case "foreign_put":
		p.put(make([]byte, misuseSize))
	case "interior_put":
		p.put(b[64:])
	case "write_after_put":
		p.put(b)
		b[10] = 'x'
		p.close() // a checked pool looks when the block leaves it
	case "wrong_cap":
		p.put(b[:1000:1000]) // the size of no class
	}
}

// twoOwners puts blocks twice and counts how many are handed out while they are out.
func twoOwners(p misusable, n int) int {
	twice := 0
	for range n {
		b := p.get()
		p.put(b)
		p.put(b)
		x, y := p.get(), p.get()
		if &x[0] == &y[0] {
			twice++
		}
	}
	return twice
}

func misusablePool(name string) misusable {
	if name == "sync.Pool" {
		pool := &sync.Pool{New: func() any { b := make([]byte, misuseSize); return &b }}
		return misusable{
			get:     func() []byte { return *pool.Get().(*[]byte) },
			put:     func(b []byte) { pool.Put(&b) },
			close:   func() {},
			noticed: func() uint64 { return 0 },
		}
	}
	var reports atomic.Uint64
	options := dewpond.BytePoolOptions{Name: "misused", OnViolation: func(misuse.Violation) { reports.Add(1) }}
	if name == "dewpond checked" || name == panicking {
		options.Check = dewpond.CheckAll
	}
	if name == panicking {
		options.OnViolation = func(v misuse.Violation) {
			if v.Kind != misuse.Leak { // a collection finds that, when nobody is there to see it
				panic(v.String())
			}
		}
	}
	var pool *dewpond.BytePool
	var err error
	if name == "dewpond off the heap" {
		pool, err = offheap.NewBytePool(options)
	} else {
		pool, err = dewpond.NewBytePool(options)
	}
	if err != nil {
		panic(fmt.Sprintf("the options are wrong: %v", err))
	}
	return misusable{
		get:   func() []byte { return pool.Get(misuseSize) },
		put:   pool.Put,
		close: func() { pool.Close() },
		noticed: func() uint64 {
			s := pool.Stats()
			return s.Dropped.Foreign + s.Dropped.Double + reports.Load()
		},
	}
}

func judgeMisusePanic(m experiment.Measured) experiment.Finding {
	panics := experiment.At("sync.Pool", "panics")
	if f, lacking := m.Lacking(panics); lacking {
		return f
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("%s panics in %d kinds of misuse of sync.Pool", m.Text(panics), len(misuses)),
		Control:  fmt.Sprintf("dewpond in checked mode notices %s of them", m.Text(experiment.At("dewpond checked", "noticed"))),
		Do:       "Do not wait for sync.Pool to find your double Put: test with dewpond's checked mode, or with package dewtest.",
	}
	if m.Median("sync.Pool", "panics") > 0 {
		f.Verdict, f.Why = experiment.Reproduced, "sync.Pool panicked on misuse"
		return f
	}
	f.Verdict, f.Why = experiment.NotReproduced, "sync.Pool keeps no record of what is out, its source has no such text, and it took every wrong Put"
	return f
}

func judgeMisuseRefused(m experiment.Measured) experiment.Finding {
	double := experiment.At("dewpond off the heap", "two_owners")
	checked := experiment.At("dewpond checked", "two_owners")
	control := experiment.At("sync.Pool", "two_owners")
	if f, lacking := m.Lacking(double, checked, control); lacking {
		return f
	}
	var text bytes.Buffer
	for i, name := range []string{"dewpond", "dewpond off the heap", "dewpond checked"} {
		if i > 0 {
			text.WriteString(", ")
		}
		fmt.Fprintf(&text, "%s %.0f", name, m.Median(name, "noticed"))
	}
	f := experiment.Finding{
		Measured: fmt.Sprintf("of %d kinds of misuse were noticed: %s; blocks with two owners off the heap %s, checked %s",
			len(misuses), text.String(), m.Text(double), m.Text(checked)),
		Control: fmt.Sprintf("sync.Pool notices none, and gives %s blocks two owners; dewpond on the heap and unchecked gives %s, for it cannot see a double Put",
			m.Text(control), m.Text(experiment.At("dewpond", "two_owners"))),
		Do: "Run your tests with DEWPOND_CHECK=all; in production only the Puts that docs/ownership.md names are refused.",
	}
	switch {
	case m.Figure(double).Max > 0 || m.Figure(checked).Max > 0:
		f.Verdict, f.Why = experiment.NotReproduced, "a block had two owners"
	case m.Median("sync.Pool", "two_owners") == 0:
		f.Verdict, f.Why = experiment.CannotTell, "the control shows no double owner either, so the attempt proves nothing"
	case m.Median("dewpond checked", "noticed") < float64(len(misuses)):
		f.Verdict, f.Why = experiment.DirectionOnly, "checked mode misses a kind"
	default:
		f.Verdict, f.Why = experiment.Reproduced, "every kind is noticed in checked mode; without it a pool on the heap sees wrong caps, and one off the heap also double, foreign and interior Puts"
	}
	return f
}
