package attack

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/dewpond/dewpond"
	"github.com/dewpond/dewpond/misuse"
	"github.com/dewpond/dewpond/offheap"
)

// A bytePond is a BytePool and what the attack knows of it.
type bytePond struct {
	*dewpond.BytePool
	o       dewpond.BytePoolOptions
	offHeap bool
	obeys   bool              // no attacker calls its Get
	source  *moodySource      // nil: the pool's own
	hint    *dewpond.BodyPool // nil: the pool has an Allocator
	// upset says that a callback has panicked: the counts are then unknown. It is a
	// separate allocation, because an OnViolation that refers to its pool would keep
	// the pool alive for as long as any of its blocks is watched.
	upset   *atomic.Bool
	strange atomic.Int64 // Puts without a Get
	again   atomic.Int64 // Releases by owners that had released
}

// sizes are the sizes that attackers ask for: of every class, and some between two
// classes.
var sizes = []int{0, 1, 64, 100, 128, 1000, 1024, 4096, 5000, 30_000, 32 << 10, 64 << 10, 100_000}

const oversize = 1<<20 + 1

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

func (r *round) newBytePond(rng *rand.Rand, place int) *bytePond {
	p := &bytePond{offHeap: rng.IntN(3) == 0, upset: new(atomic.Bool)}
	p.o = dewpond.BytePoolOptions{
		Name:            fmt.Sprint("bytes", place),
		Classes:         pick(rng, nil, nil, []int{64, 1024, 32 << 10, 128 << 10}),
		MaxIdleBytes:    pick[int64](rng, 0, 0, dewpond.NoIdle, 64<<10, 1<<20),
		MaxIdlePerClass: pick(rng, 0, 0, 1, 20),
		AllocRate:       pick(rng, 0, 0, 5000),
		Zero:            pick(rng, dewpond.ZeroOnPut, dewpond.ZeroOnGet, dewpond.ZeroNever),
		Check:           pick(rng, dewpond.CheckOff, dewpond.CheckOff, dewpond.CheckSampled, dewpond.CheckAll),
		IdleTimeout:     pick[time.Duration](rng, 0, -1, 100*time.Millisecond),
		OnViolation:     func(misuse.Violation) {},
	}
	if place%2 == 0 {
		p.o.Budget = r.budgets[place/2%2]
		p.obeys = r.obeyed && p.o.Budget == r.budgets[0]
	}
	// A panic in a timer ends the process, so OnViolation panics only if no timer is
	// armed.
	if p.o.IdleTimeout < 0 && !leftOut[panickingViolation] && rng.IntN(2) == 0 {
		var calls atomic.Int64
		upset := p.upset
		p.o.OnViolation = func(v misuse.Violation) {
			if v.Kind != misuse.Leak && calls.Add(1)%3 == 0 {
				upset.Store(true)
				panic(errPanic)
			}
		}
	}
	var err error
	if p.offHeap {
		p.BytePool, err = offheap.Options{Reserve: pick[int64](rng, 1<<20, 16<<20), Coupled: rng.IntN(4) == 0}.NewBytePool(p.o)
	} else {
		if rng.IntN(4) == 0 {
			p.source = &moodySource{upset: p.upset, out: map[*byte]int{}, panics: p.o.IdleTimeout < 0}
			p.o.Memory = p.source
		}
		p.BytePool, err = dewpond.NewBytePool(p.o)
	}
	if err != nil {
		panic(err)
	}
	if !p.offHeap && p.source == nil {
		p.hint = p.Bodies()
	}
	r.pools.Add(1)
	r.mu.Lock()
	r.allBytes = append(r.allBytes, p)
	r.mu.Unlock()
	return p
}

// mayBeStrange reports whether foreign slices may be put into the pool, and sizes above
// the largest class may be asked for.
func (p *bytePond) mayBeStrange() bool { return p.o.Budget == nil || !leftOut[budgetedStrangers] }

// judgeCounts checks the counts, once everything is put back.
func (p *bytePond) judgeCounts(r *round) {
	if p.upset.Load() {
		return
	}
	until(func() string {
		s := p.Stats()
		if int64(s.Puts) != int64(s.Gets)+p.strange.Load() || s.InUseBytes != 0 || s.Gets != s.Hits+s.Misses+s.Oversize || int64(s.DoubleReleases) != p.again.Load() {
			return fmt.Sprintf("round %d: all is put back, %d strangers too, and %d Leases are released again: %s", r.number, p.strange.Load(), p.again.Load(), p)
		}
		return ""
	})
}

// judgeEnd trims and closes the pool, of which nothing is left then.
func (p *bytePond) judgeEnd(r *round) {
	until(func() string {
		r.safely(p.upset, func() { p.Trim() })
		if n := p.Stats().IdleBytes; n != 0 {
			return fmt.Sprintf("round %d: after Trim %d bytes are idle: %s", r.number, n, p)
		}
		return ""
	})
	until(func() (what string) {
		r.safely(p.upset, func() {
			if err := p.Close(); err != nil {
				what = fmt.Sprintf("round %d: Close: %v: %s", r.number, err, p)
			}
		})
		if n := p.Stats().OffHeap.Reserved; n != 0 {
			what = fmt.Sprintf("round %d: after Close %d bytes are reserved: %s", r.number, n, p)
		}
		return what
	})
	if p.source != nil {
		p.source.judge(p, r)
	}
}

func (p *bytePond) String() string {
	s := p.Stats()
	s.Classes = nil
	return fmt.Sprintf("%+v; its options %+v; off heap %v, upset %v", s, p.o, p.offHeap, p.upset.Load())
}

// A loan is a block that is out, stamped.
type loan struct {
	pond  *bytePond
	b     []byte
	stamp uint64
}

var stamps atomic.Uint64

// stride is the distance between the stamps in a block: at most 64 of them.
func stride(b []byte) int { return max(8, len(b)/64&^7) }

// lend stamps a block from a Get, up to its cap, and checks that it is clean.
func (p *bytePond) lend(r *round, b []byte) *loan {
	if p.o.Zero != dewpond.ZeroNever {
		for i := 0; i < len(b); i += stride(b) {
			if b[i] != 0 {
				r.t.Errorf("a block of %d bytes has %#x at %d: %s", len(b), b[i], i, p)
				break
			}
		}
	}
	l := &loan{p, b, stamps.Add(1)}
	b = b[:cap(b)]
	for i := 0; i+8 <= len(b); i += stride(b) {
		binary.LittleEndian.PutUint64(b[i:], l.stamp)
	}
	return l
}

// verify checks that the block has had no other owner.
func (l *loan) verify(r *round) {
	b := l.b[:cap(l.b)]
	for i := 0; i+8 <= len(b); i += stride(b) {
		if got := binary.LittleEndian.Uint64(b[i:]); got != l.stamp {
			r.t.Errorf("a block of %d bytes stamped %d has %d at %d: it had another owner: %s", len(b), l.stamp, got, i, l.pond)
			return
		}
	}
}

func (l *loan) putBack(r *round) {
	l.verify(r)
	l.pond.Put(l.b)
}
