package attack

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/misuse"
)

// A slicePond is a SlicePool of some type, as the round uses it.
type slicePond interface {
	use(a *attacker)
	trim(r *round)
	close(r *round)
	look() (name string, checked bool, s dewpond.Stats)
	charged(b *dewpond.Budget) (idle int64, suspect string)
	judgeCounts(r *round)
	judgeEnd(r *round)
}

// A part is an element with pointers, which the collector must see.
type part struct {
	of   *atomic.Uint64
	text string
}

// newSlicePond makes a pool of elements with pointers, or of such without.
func (r *round) newSlicePond(rng *rand.Rand, place int) slicePond {
	if place%2 == 0 {
		return newPondOf(r, rng, place, func(stamp uint64) part {
			of := new(atomic.Uint64)
			of.Store(stamp)
			return part{of, fmt.Sprint(stamp)}
		}, func(v part) uint64 {
			if v.text != fmt.Sprint(v.of.Load()) {
				return 0
			}
			return v.of.Load()
		})
	}
	same := func(stamp uint64) uint64 { return stamp }
	return newPondOf(r, rng, place, same, same)
}

// A pondOf is a SlicePool of T and what the attack knows of it.
type pondOf[T comparable] struct {
	*dewpond.SlicePool[T]
	o     dewpond.SlicePoolOptions[T]
	obeys bool // no attacker calls its Get
	upset *atomic.Bool
	stamp func(uint64) T // makes an element that shows the stamp
	read  func(T) uint64
	// strange counts Puts without a Get.
	strange atomic.Int64
}

func newPondOf[T comparable](r *round, rng *rand.Rand, place int, stamp func(uint64) T, read func(T) uint64) *pondOf[T] {
	p := &pondOf[T]{upset: new(atomic.Bool), stamp: stamp, read: read}
	p.o = dewpond.SlicePoolOptions[T]{
		Name:            fmt.Sprint("slices", place),
		Classes:         pick(rng, nil, nil, []int{16, 100, 2048}),
		MaxIdleBytes:    pick[int64](rng, 0, 0, dewpond.NoIdle, 64<<10),
		MaxIdlePerClass: pick(rng, 0, 0, 1, 20),
		AllocRate:       pick(rng, 0, 0, 5000),
		Check:           pick(rng, dewpond.CheckOff, dewpond.CheckOff, dewpond.CheckSampled, dewpond.CheckAll),
		IdleTimeout:     pick[time.Duration](rng, 0, -1, 100*time.Millisecond),
		OnViolation:     func(misuse.Violation) {},
	}
	if rng.IntN(2) == 0 {
		p.o.Budget = r.budgets[place%2]
		p.obeys = r.obeyed && p.o.Budget == r.budgets[0]
	}
	if rng.IntN(3) == 0 {
		var calls atomic.Int64
		upset := p.upset
		p.o.Reset = func(s []T) {
			clear(s)
			if calls.Add(1)%64 == 0 {
				upset.Store(true)
				panic(errPanic)
			}
		}
	}
	p.SlicePool = dewpond.MustSlicePool(p.o)
	r.pools.Add(1)
	return p
}

func (p *pondOf[T]) use(a *attacker) {
	n := pick(a.rng, 0, 1, 16, 90, 100, 1000, 3000)
	keep := func(s []T, err error) {
		if err != nil {
			a.allowed(err)
			return
		}
		a.slices = append(a.slices, p.lend(a.round, s, n))
	}
	a.safely(p.upset, func() {
		switch what := a.rng.IntN(20); {
		case what < 8:
			keep(p.TryGet(n))
		case what < 11:
			ctx, cancel := a.context()
			defer cancel()
			keep(p.GetContext(ctx, n))
		case what == 11:
			p.Trim()
		case what == 12:
			if err := p.Prewarm(min(n, 1000), 1+a.rng.IntN(4)); err != nil {
				a.allowed(err)
			}
		case what == 13: // of no class
			p.strange.Add(1)
			p.Put(make([]T, 10, 101))
		case p.obeys: // what follows takes past a Budget
			keep(p.TryGet(n))
		case what == 14:
			s := p.Get(n)
			defer func() { p.Put(s) }()
			s = p.Append(s, p.stamp(1), p.stamp(2))
			if s = p.Grow(s, 1+a.rng.IntN(200)); len(s) != n+2 || p.read(s[n+1]) != 2 {
				a.t.Errorf("a slice of %d elements that grew holds something else: %s", n, p)
			}
		default:
			keep(p.Get(n), nil)
		}
	})
}

// lend stamps a slice from a Get, up to its cap, and checks that it is clean. What it
// returns checks that the slice had no other owner, and puts it back.
func (p *pondOf[T]) lend(r *round, s []T, n int) func() {
	var zero T
	if len(s) != n {
		r.t.Errorf("asked for %d elements and got %d: %s", n, len(s), p)
	}
	whole := s[:cap(s)]
	step := max(1, len(whole)/64)
	stamp := stamps.Add(1)
	for i := 0; i < len(whole); i += step {
		if whole[i] != zero {
			r.t.Errorf("a slice of %d elements has %v at %d: %s", n, whole[i], i, p)
		}
		whole[i] = p.stamp(stamp)
	}
	return func() {
		for i := 0; i < len(whole); i += step {
			if got := p.read(whole[i]); got != stamp {
				r.t.Errorf("a slice of %d elements stamped %d has %d at %d: it had another owner: %s", n, stamp, got, i, p)
				break
			}
		}
		r.safely(p.upset, func() {
			p.Put(s)
		})
	}
}

func (p *pondOf[T]) trim(r *round)  { r.safely(p.upset, func() { p.Trim() }) }
func (p *pondOf[T]) close(r *round) { r.safely(p.upset, func() { _ = p.Close() }) }

func (p *pondOf[T]) look() (string, bool, dewpond.Stats) {
	return p.o.Name, p.o.Check != dewpond.CheckOff, p.Stats()
}

func (p *pondOf[T]) charged(b *dewpond.Budget) (idle int64, suspect string) {
	s := p.Stats()
	switch {
	case p.o.Budget != b:
		return 0, ""
	case s.InUseBytes != 0, p.upset.Load():
		suspect = p.String()
	}
	return s.IdleBytes, suspect
}

// judgeCounts checks the counts, once everything is put back.
func (p *pondOf[T]) judgeCounts(r *round) {
	if p.upset.Load() {
		return
	}
	until(func() string {
		s := p.Stats()
		if int64(s.Puts) != int64(s.Gets)+p.strange.Load() || s.InUseBytes != 0 || s.Gets != s.Hits+s.Misses+s.Oversize {
			return fmt.Sprintf("round %d: all is put back, %d strangers too: %s", r.number, p.strange.Load(), p)
		}
		return ""
	})
}

// judgeEnd trims and closes the pool, in which nothing is idle then.
func (p *pondOf[T]) judgeEnd(r *round) {
	until(func() string {
		p.trim(r)
		if n := p.Stats().IdleBytes; n != 0 {
			return fmt.Sprintf("round %d: after Trim %d bytes are idle: %s", r.number, n, p)
		}
		return ""
	})
	p.close(r)
	runtime.KeepAlive(p)
}

func (p *pondOf[T]) String() string {
	s := p.Stats()
	s.Classes = nil
	return fmt.Sprintf("%+v; Classes %v, Budget %v, AllocRate %d, IdleTimeout %v, Check %v, Reset %v, upset %v", s, p.o.Classes, p.o.Budget, p.o.AllocRate, p.o.IdleTimeout, p.o.Check, p.o.Reset != nil, p.upset.Load())
}
