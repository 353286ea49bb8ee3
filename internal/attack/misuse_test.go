package attack

import (
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/misuse"
)

// misuse makes a pool of each kind, whose blocks and objects no other attacker has,
// writes to them late and puts them back twice. All are watched, and OnViolation panics
// now and then.
func (a *attacker) misuse() {
	var calls atomic.Int64
	report := func(upset *atomic.Bool) func(misuse.Violation) {
		return func(v misuse.Violation) {
			// The collector reports a Leak, in a goroutine of the runtime, which must
			// not panic.
			if v.Kind != misuse.Leak && calls.Add(1)%2 == 0 && !leftOut[panickingViolation] {
				upset.Store(true)
				panic(errPanic)
			}
		}
	}
	p := &bytePond{upset: new(atomic.Bool)}
	p.o = dewpond.BytePoolOptions{Name: "misused", Check: dewpond.CheckAll, IdleTimeout: dewpond.NoDecay, OnViolation: report(p.upset)}
	// A caller that needs room in a Budget takes idle blocks of all its pools: a late
	// write races with that.
	shared := !raceEnabled && a.rng.IntN(2) == 0
	if shared {
		p.o.Budget = a.budgets[1]
	}
	p.BytePool = dewpond.MustBytePool(p.o)
	q := &objectPond{strict: true}
	q.o = dewpond.PoolOptions[object]{
		Name: "misused objects", MaxOut: 1, Check: dewpond.CheckAll, IdleTimeout: dewpond.NoDecay, OnViolation: report(&q.upset),
		New: func() *object { return &object{mind: new(mind)} }, Reset: func(v *object) { v.data = [5]uint64{} },
	}
	q.Pool = dewpond.MustPool(q.o)
	a.pools.Add(2)
	a.mu.Lock()
	a.allBytes, a.allObjects = append(a.allBytes, p), append(a.allObjects, q)
	a.mu.Unlock()

	for range 6 {
		late := a.rng.IntN(2) == 0
		a.safely(p.upset, func() {
			b, err := p.TryGet(1024)
			if err != nil {
				a.allowed(err)
				return
			}
			p.Put(b)
			if late {
				b[7]++
			} else if !shared { // otherwise it may have been released by now, and be foreign
				p.strange.Add(1)
				p.Put(b)
			}
		})
		a.safely(p.upset, func() {
			if a.rng.IntN(2) == 0 {
				p.Trim()
			}
		})
		a.safely(&q.upset, func() {
			v, err := q.TryGet()
			if err != nil {
				a.t.Errorf("nothing is out of a limit of 1: %v: %s", err, q)
				return
			}
			q.Put(v)
			if late {
				v.data[2] = 7
			} else {
				q.strange.Add(1)
				q.Put(v)
			}
		})
		time.Sleep(time.Duration(a.rng.IntN(50)) * time.Microsecond)
	}
}
