package attack

import (
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/misuse"
)

// An object is what the attack's typed pools hold. Its pool makes each field but mind
// 0.
type object struct {
	mind *mind
	data [5]uint64
}

// A mind is an object's record of its life.
type mind struct {
	owner   atomic.Int64 // 0: no owner
	dropped atomic.Int64
}

// An objectPond is a Pool and what the attack knows of it.
type objectPond struct {
	*dewpond.Pool[object]
	o      dewpond.PoolOptions[object]
	strict bool // no attacker calls its Get
	out    atomic.Int64
	upset  atomic.Bool
	// strange counts Puts without a Get.
	strange atomic.Int64
}

func (r *round) newObjectPond(rng *rand.Rand, place int) *objectPond {
	p := &objectPond{strict: rng.IntN(2) == 0}
	idle := pick[time.Duration](rng, 0, -1, 100*time.Millisecond)
	panics := idle < 0 && rng.IntN(2) == 0 // otherwise it would be in a timer's goroutine
	var calls atomic.Int64
	mood := func() {
		if panics && calls.Add(1)%64 == 0 {
			p.upset.Store(true)
			panic(errPanic)
		}
	}
	p.o = dewpond.PoolOptions[object]{
		Name: fmt.Sprint("objects", place),
		New: func() *object {
			mood()
			return &object{mind: new(mind)}
		},
		Reset: func(v *object) {
			mood()
			v.data = [5]uint64{}
		},
		Keep: func(v *object) bool {
			mood()
			return v.data[0]%8 != 0
		},
		Drop: func(v *object) {
			if v.mind.owner.Load() != 0 || v.mind.dropped.Add(1) != 1 {
				r.t.Errorf("an object is dropped %d times, owned by %d: %s", v.mind.dropped.Load(), v.mind.owner.Load(), p)
			}
			mood()
		},
		MaxIdle:     pick(rng, 0, dewpond.NoIdle, 3, 100),
		MaxOut:      pick(rng, 0, 2, 5, 40),
		IdleTimeout: idle,
		Check:       pick(rng, dewpond.CheckOff, dewpond.CheckOff, dewpond.CheckSampled, dewpond.CheckAll),
		OnViolation: func(misuse.Violation) {
			if !leftOut[panickingViolation] {
				mood()
			}
		},
	}
	p.Pool = dewpond.MustPool(p.o)
	r.pools.Add(1)
	r.mu.Lock()
	r.allObjects = append(r.allObjects, p)
	r.mu.Unlock()
	return p
}

// own records the owner of an object from a Get.
func (p *objectPond) own(r *round, v *object, who int64) {
	if v == nil || v.mind == nil || v.mind.dropped.Load() != 0 || !v.mind.owner.CompareAndSwap(0, who) {
		r.t.Errorf("an object has two owners, or was dropped: %+v: %s", v, p)
		return
	}
	if v.data != [5]uint64{} {
		r.t.Errorf("an object was not reset: %+v: %s", v, p)
	}
	if out := p.out.Add(1); p.strict && p.o.MaxOut > 0 && out > int64(p.o.MaxOut) {
		r.t.Errorf("%d objects are out of a limit of %d: %s", out, p.o.MaxOut, p)
	}
	v.data[0], v.data[4] = uint64(who), uint64(who)
}

// disown is the last call of an owner before Put.
func (p *objectPond) disown(r *round, v *object, who int64) {
	if v.data[0] != uint64(who) || v.data[4] != uint64(who) {
		r.t.Errorf("an object of %d holds %v: %s", who, v.data, p)
	}
	p.out.Add(-1)
	if !v.mind.owner.CompareAndSwap(who, 0) {
		r.t.Errorf("an object of %d has another owner: %s", who, p)
	}
}

// judge checks the laws once everything is put back, and closes the pool.
func (p *objectPond) judge(r *round) {
	if !p.upset.Load() {
		until(func() string {
			if s := p.Stats(); s.Gets+uint64(p.strange.Load()) != s.Puts || s.InUseBytes != 0 {
				return fmt.Sprintf("round %d: all is put back: %s", r.number, p)
			}
			return ""
		})
	}
	until(func() string {
		r.safely(&p.upset, func() { p.Trim() })
		if n := p.Stats().IdleBytes; n != 0 {
			return fmt.Sprintf("round %d: after Trim %d bytes are idle: %s", r.number, n, p)
		}
		return ""
	})
	p.judgePlaces(r)
	until(func() string {
		err := error(nil)
		r.safely(&p.upset, func() { err = p.Close() })
		if err != nil {
			return fmt.Sprintf("round %d: Close: %v: %s", r.number, err, p)
		}
		return ""
	})
}

// judgePlaces checks that all places of a Limit are free, unless the pool is closed.
func (p *objectPond) judgePlaces(r *round) {
	var held []*object
	for closed := false; len(held) < p.o.MaxOut && !closed; {
		r.safely(&p.upset, func() {
			v, err := p.TryGet()
			switch {
			case err == dewpond.ErrClosed:
				closed = true
			case err != nil:
				r.t.Errorf("nothing is out, and after %d of a limit of %d: %v: %s", len(held), p.o.MaxOut, err, p)
				closed = true
			default:
				held = append(held, v)
			}
		})
	}
	for _, v := range held {
		r.safely(&p.upset, func() { p.Put(v) })
	}
}

func (p *objectPond) String() string {
	s := p.Stats()
	s.Classes = nil
	return fmt.Sprintf("%+v; Limit %d, MaxIdle %d, IdleTimeout %v, Check %v, strict %v, upset %v", s, p.o.MaxOut, p.o.MaxIdle, p.o.IdleTimeout, p.o.Check, p.strict, p.upset.Load())
}
