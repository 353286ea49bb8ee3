package attack

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/internal/go125"
	"github.com/dewpond/dewpond/pressure"
)

const (
	bytePlaces   = 6
	objectPlaces = 3
	slicePlaces  = 4
	attackers    = 24
	steps        = 100 // of an attacker
)

// A round is one game: its pools, the attackers that use them, and the changes around
// them.
type round struct {
	t *testing.T
	*tally
	number uint64

	budgets [2]*dewpond.Budget
	obeyed  bool // no attacker takes past the first Budget

	bytes   [bytePlaces]atomic.Pointer[bytePond]
	objects [objectPlaces]atomic.Pointer[objectPond]
	slices  [slicePlaces]slicePond
	over    atomic.Bool // the attackers have ended

	mu         sync.Mutex // guards the fields below
	allBytes   []*bytePond
	allObjects []*objectPond
}

// errPanic is the value with which callbacks panic.
var errPanic = errors.New("a callback panics")

// play plays a round, and checks the laws.
func play(t *testing.T, seed, number uint64, all *tally) {
	rng := rand.New(rand.NewPCG(seed, number))
	r := &round{t: t, tally: all, number: number, obeyed: rng.IntN(2) == 0}
	for i := range r.budgets {
		r.budgets[i] = dewpond.MustBudget("", int64(256+rng.IntN(2048))<<10)
	}
	for i := range r.bytes {
		r.bytes[i].Store(r.newBytePond(rng, i))
	}
	for i := range r.objects {
		r.objects[i].Store(r.newObjectPond(rng, i))
	}
	for i := range r.slices {
		r.slices[i] = r.newSlicePond(rng, i)
	}
	var wg, director go125.WaitGroup
	gifts := make(chan *loan, attackers)
	for g := range attackers {
		wg.Go(func() {
			a := &attacker{round: r, rng: rand.New(rand.NewPCG(seed^number, uint64(g))), number: g, gifts: gifts}
			a.run()
		})
	}
	director.Go(func() { r.direct(rand.New(rand.NewPCG(seed^number, 1<<32)), gifts) })
	director.Go(r.watch)
	wg.Wait() // the stacks at the test's timeout show a goroutine that is stuck
	r.over.Store(true)
	director.Wait()
	close(gifts)
	for l := range gifts {
		r.safely(l.pond.upset, func() { l.putBack(r) })
	}
	r.judge(rng)
	r.rounds.Add(1)
}

// direct changes what is around the attackers, until they have ended.
func (r *round) direct(rng *rand.Rand, gifts <-chan *loan) {
	limit := debug.SetMemoryLimit(-1)
	defer debug.SetMemoryLimit(limit)
	for !r.over.Load() {
		select {
		case l := <-gifts:
			r.safely(l.pond.upset, func() { l.putBack(r) })
		default:
		}
		switch rng.IntN(13) {
		case 0, 1, 2:
			runtime.GOMAXPROCS(1 + rng.IntN(8))
		case 3:
			runtime.GC()
		case 4, 5:
			i := rng.IntN(len(r.bytes))
			r.retire(rng, r.bytes[i].Swap(r.newBytePond(rng, i)))
		case 6:
			i := rng.IntN(len(r.objects))
			old := r.objects[i].Swap(r.newObjectPond(rng, i))
			if rng.IntN(2) == 0 {
				r.safely(&old.upset, func() { old.Close() })
			}
		case 7:
			p := r.bytes[rng.IntN(len(r.bytes))].Load()
			r.safely(p.upset, func() { p.Trim() })
		case 8:
			p := r.objects[rng.IntN(len(r.objects))].Load()
			r.safely(&p.upset, func() { p.Trim() })
		case 9: // the heap is larger than this: pressure
			debug.SetMemoryLimit(1 << 20)
			pressure.Current()
			runtime.Gosched()
			debug.SetMemoryLimit(limit)
		case 10:
			r.slices[rng.IntN(len(r.slices))].trim(r)
		case 11:
			if i := rng.IntN(32 * len(r.slices)); i < len(r.slices) {
				r.slices[i].close(r)
			}
		}
		time.Sleep(time.Duration(rng.IntN(1000)) * time.Microsecond)
	}
}

// retire closes a pool whose blocks may be out, or leaves it for the end.
func (r *round) retire(rng *rand.Rand, p *bytePond) {
	if rng.IntN(2) == 0 {
		r.closed.Add(1)
		r.safely(p.upset, func() { _ = p.Close() }) // off the heap the error says how many blocks are out
	}
}

// watch checks the statistics of the pools in place, whose counts never go back.
func (r *round) watch() {
	last := map[any]dewpond.Stats{}
	see := func(p any, checked bool, now dewpond.Stats) {
		before, seen := last[p]
		last[p] = now
		if !seen || checked && leftOut[monotone] {
			return
		}
		if what := wentBack(before, now); what != "" {
			r.t.Errorf("pool %s: %s went back: %+v, then %+v", now.Name, what, before, now)
		}
	}
	for !r.over.Load() {
		for i := range r.bytes {
			p := r.bytes[i].Load()
			see(p, p.o.Check != dewpond.CheckOff, p.Stats())
		}
		for i := range r.objects {
			p := r.objects[i].Load()
			see(p, p.o.Check != dewpond.CheckOff, p.Stats())
		}
		for _, p := range r.slices {
			_, checked, now := p.look()
			see(p, checked, now)
		}
		if r.obeyed && r.budgets[0].Used() > r.budgets[0].Limit() {
			r.t.Errorf("%d bytes are charged of %d, which all callers obey", r.budgets[0].Used(), r.budgets[0].Limit())
		}
		time.Sleep(50 * time.Microsecond)
	}
}

// wentBack names the counts of now that are less than before.
func wentBack(before, now dewpond.Stats) string {
	var what []string
	for _, c := range []struct {
		name        string
		before, now uint64
	}{
		{"Gets", before.Gets, now.Gets}, {"Hits", before.Hits, now.Hits}, {"Misses", before.Misses, now.Misses},
		{"Puts", before.Puts, now.Puts}, {"Refused", before.Refused, now.Refused}, {"Waits", before.Waits, now.Waits}, {"Oversize", before.Oversize, now.Oversize},
		{"OverAllocRate", before.OverAllocRate, now.OverAllocRate}, {"OverMaxOut", before.OverMaxOut, now.OverMaxOut}, {"OverBudget", before.OverBudget, now.OverBudget},
		{"Dropped.Full", before.Dropped.Full, now.Dropped.Full}, {"Dropped.Foreign", before.Dropped.Foreign, now.Dropped.Foreign},
		{"Dropped.Double", before.Dropped.Double, now.Dropped.Double}, {"Dropped.Closed", before.Dropped.Closed, now.Dropped.Closed},
		{"Dropped.ByKeep", before.Dropped.ByKeep, now.Dropped.ByKeep}, {"Dropped.Oversize", before.Dropped.Oversize, now.Dropped.Oversize},
		{"Dropped.Fallback", before.Dropped.Fallback, now.Dropped.Fallback}, {"DoubleReleases", before.DoubleReleases, now.DoubleReleases},
		{"Trimmed", before.Trimmed, now.Trimmed}, {"Violations", before.Violations, now.Violations},
	} {
		if c.now < c.before {
			what = append(what, c.name)
		}
	}
	return strings.Join(what, ", ")
}

// judge checks the laws when everything is put back, and drops the pools.
func (r *round) judge(rng *rand.Rand) {
	for _, p := range r.allBytes {
		p.judgeCounts(r)
	}
	for _, p := range r.allObjects {
		p.judge(r)
	}
	for _, p := range r.slices {
		p.judgeCounts(r)
	}
	r.judgeBudgets()
	for i, p := range r.slices {
		p.judgeEnd(r)
		r.slices[i] = nil
	}
	// Some pools that were not closed are dropped: the collector takes them.
	kept := slices.DeleteFunc(r.allBytes, func(p *bytePond) bool {
		if rng.IntN(4) > 0 {
			return false
		}
		r.dropped.Add(1)
		return true
	})
	for i := range r.bytes {
		r.bytes[i].Store(nil)
	}
	clear(r.allBytes[len(kept):])
	for _, p := range kept {
		p.judgeEnd(r)
	}
	r.allBytes, r.allObjects = nil, nil
	for i := range r.objects {
		r.objects[i].Store(nil)
	}
	for i, b := range r.budgets {
		until(func() string {
			if used := b.Used(); used != 0 {
				return fmt.Sprintf("round %d: %d bytes of Budget %d are used, and all pools are gone", r.number, used, i)
			}
			return ""
		})
	}
}

// judgeBudgets checks that each Budget has used exactly what its pools have idle.
func (r *round) judgeBudgets() {
	for i, b := range r.budgets {
		until(func() string {
			idle := int64(0)
			var pools []string
			for _, p := range r.allBytes {
				if p.o.Budget == b {
					s := p.Stats()
					idle += s.IdleBytes
					if s.InUseBytes != 0 || p.upset.Load() {
						pools = append(pools, p.String())
					}
				}
			}
			for _, p := range r.slices {
				more, suspect := p.charged(b)
				idle += more
				if suspect != "" {
					pools = append(pools, suspect)
				}
			}
			if used := b.Used(); used != idle {
				return fmt.Sprintf("round %d: all is put back, %d bytes of Budget %d are used and %d are idle; of its pools these are suspect:\n%s", r.number, used, i, idle, strings.Join(pools, "\n"))
			}
			return ""
		})
	}
}

// safely calls f, in which callbacks may panic, and records a panic in upset.
func (r *round) safely(upset *atomic.Bool, f func()) {
	defer func() {
		switch e := recover(); {
		case e == nil:
		case e == any(errPanic):
			r.panics.Add(1)
			upset.Store(true)
		default:
			r.t.Errorf("%v\n%s", e, debug.Stack())
		}
	}()
	f()
}
