package attack

import (
	"bytes"
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"time"

	"github.com/dewpond/dewpond"
)

// An attacker is one goroutine. It holds some blocks and objects, and gives some blocks
// to others. It never waits for long while it holds anything, and the director takes
// gifts too: otherwise all attackers could wait for each other.
type attacker struct {
	*round
	rng    *rand.Rand
	number int
	gifts  chan *loan

	loans   []*loan
	objects []heldObject
	slices  []func() // each puts a slice back
}

type heldObject struct {
	pond *objectPond
	v    *object
	who  int64
}

func (a *attacker) run() {
	for range steps {
		a.calls.Add(1)
		switch what := a.rng.IntN(150); {
		case what == 0:
			a.misuse()
		case what < 35:
			a.useObjects()
		case what < 60:
			a.round.slices[a.rng.IntN(slicePlaces)].use(a)
		default:
			a.useBytes()
		}
		select {
		case l := <-a.gifts:
			a.loans = append(a.loans, l)
		default:
		}
		for len(a.loans) > a.rng.IntN(12) {
			a.putOne()
		}
		for len(a.objects) > a.rng.IntN(3) {
			a.putObject()
		}
		for len(a.slices) > a.rng.IntN(6) {
			a.putSlice()
		}
		if a.rng.IntN(8) == 0 {
			runtime.Gosched()
		}
	}
	a.putAll()
}

func (a *attacker) putAll() {
	for len(a.loans) > 0 {
		a.putOne()
	}
	for len(a.objects) > 0 {
		a.putObject()
	}
	for len(a.slices) > 0 {
		a.putSlice()
	}
}

func (a *attacker) putSlice() {
	putBack := a.slices[0]
	a.slices = a.slices[1:]
	putBack()
}

func (a *attacker) putOne() {
	l := a.loans[0]
	a.loans = a.loans[1:]
	if a.rng.IntN(8) == 0 {
		select {
		case a.gifts <- l:
			return
		default:
		}
	}
	a.safely(l.pond.upset, func() { l.putBack(a.round) })
}

// context returns a context that ends soon, or has ended, or never ends. The last is
// only for attackers that hold nothing.
func (a *attacker) context() (context.Context, context.CancelFunc) {
	a.waits.Add(1)
	if a.rng.IntN(2) == 0 {
		a.putAll()
		return context.Background(), func() {}
	}
	return context.WithTimeout(context.Background(), time.Duration(a.rng.IntN(300))*time.Microsecond)
}

// allowed fails the test unless the error is one that may occur.
func (a *attacker) allowed(err error) {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		a.cancelled.Add(1)
	case errors.Is(err, dewpond.ErrExhausted):
		a.refused.Add(1)
	case errors.Is(err, dewpond.ErrClosed), errors.Is(err, errNoMemory):
	case strings.Contains(err.Error(), "reserved address space is full"):
	case strings.Contains(err.Error(), "room for "): // of Prewarm
	default:
		a.t.Error(err)
	}
}

func (a *attacker) useBytes() {
	p := a.bytes[a.rng.IntN(bytePlaces)].Load()
	n := pick(a.rng, sizes...)
	for p.o.Budget != nil && int64(n) > p.o.Budget.Limit()/4 {
		n /= 2
	}
	keep := func(b []byte, err error) {
		if err != nil {
			a.allowed(err)
			return
		}
		if len(b) != n {
			a.t.Errorf("asked for %d bytes and got %d: %s", n, len(b), p)
		}
		a.loans = append(a.loans, p.lend(a.round, b))
	}
	a.safely(p.upset, func() {
		switch what := a.rng.IntN(42); {
		case what < 10:
			keep(p.TryGet(n))
		case what < 13:
			ctx, cancel := a.context()
			defer cancel()
			keep(p.GetContext(ctx, n))
		case what < 16:
			a.batch(p, n)
		case what == 16:
			p.Trim()
		case what == 17:
			if err := p.Prewarm(n, 1+a.rng.IntN(4)); err != nil {
				a.allowed(err)
			}
		case what == 18:
			p.Stats()
		case what == 19:
			b, err := p.TryGet(n)
			if err != nil {
				a.allowed(err)
				return
			}
			a.share(p, p.LeaseOf(b))
		case p.obeys: // what follows takes past a Budget
			keep(p.TryGet(n))
		case what < 32:
			keep(p.Get(n), nil)
		case what == 32 && a.rng.IntN(2) == 0:
			a.share(p, p.LeaseOf(p.Get(n)))
		case what == 32:
			a.share(p, p.Lease(n))
		case what == 33:
			a.grow(p, n)
		case what == 34:
			a.fill(p, n)
		case what == 35:
			a.scope(p, n)
		case !p.mayBeStrange():
			keep(p.Get(n), nil)
		case what == 36: // of no class
			p.strange.Add(1)
			p.Put(make([]byte, 1000, 1001))
		case what == 37: // of one, which a pool on the heap takes
			p.strange.Add(1)
			p.Put(make([]byte, 1024))
		case what == 38:
			p.Put(p.Get(oversize))
		case what == 39:
			p.strange.Add(1)
			p.Adopt(append([]byte(nil), make([]byte, 1+n)...)) // where append allocates, and of the cap that it chooses
		case what == 40 && p.hint != nil:
			b := p.hint.Get()
			b = append(b, make([]byte, a.rng.IntN(2*n+1))...)
			p.hint.Put(b)
		default:
			keep(p.Get(n), nil)
		}
	})
}

// batch gets several blocks at once, or none.
func (a *attacker) batch(p *bytePond, n int) {
	ctx, cancel := a.context()
	defer cancel()
	blocks := make([][]byte, 1+a.rng.IntN(8))
	err := p.GetBatch(ctx, blocks, n)
	if err != nil {
		a.allowed(err)
	}
	for _, b := range blocks {
		switch {
		case (b == nil) != (err != nil), len(b) != n && err == nil:
			a.t.Errorf("of %d blocks of %d bytes one has %d, with %v: %s", len(blocks), n, len(b), err, p)
		case b != nil:
			a.loans = append(a.loans, p.lend(a.round, b))
		}
	}
}

// share has two owners release a lease, of the whole or of parts, in any order.
func (a *attacker) share(p *bytePond, l dewpond.Lease) {
	if b := l.Bytes(); len(b) > 0 {
		b[0] = 7
	}
	var other dewpond.Lease
	if a.rng.IntN(2) == 0 {
		other = l.Retain()
	} else {
		other = l.Slice(l.Len()/2, l.Len())
		l = l.Truncate(l.Len() / 2)
	}
	first, second := l, other
	if a.rng.IntN(2) == 0 {
		first, second = other, l
	}
	done := make(chan bool)
	go func() {
		a.returns(first.Release)
		close(done)
	}()
	a.returns(second.Release)
	<-done
	p.again.Add(1)           // the third is of an owner that has released
	a.returns(first.Release) // where checks report it, OnViolation may panic
}

// returns calls f, in which a callback may panic, and reports whether none did.
func (a *attacker) returns(f func()) (returned bool) {
	defer func() {
		if e := recover(); e != nil {
			if e != any(errPanic) {
				panic(e)
			}
			a.panics.Add(1)
		}
	}()
	f()
	return true
}

// grow makes a block grow twice, and checks its content. If a call panics the block
// still belongs to the attacker.
func (a *attacker) grow(p *bytePond, n int) {
	b := p.Get(n)
	defer func() { p.Put(b) }()
	for i := range b {
		b[i] = byte(n)
	}
	b = p.Grow(b, 1+a.rng.IntN(2000))
	b = p.Append(b, 1, 2, 3)
	if len(b) != n+3 || bytes.Count(b[:n], []byte{byte(n)}) != n || b[n+2] != 3 {
		a.t.Errorf("a block of %d bytes that grew holds something else: %s", n, p)
	}
}

// fill writes to a Buffer and reads the content again.
func (a *attacker) fill(p *bytePond, n int) {
	b := p.Buffer()
	defer b.Release()
	piece := []byte("piece of it ")
	for b.Len() < n {
		b.Write(piece)
	}
	for b.Len() > 0 {
		if got := b.Next(len(piece)); !bytes.Equal(got, piece) {
			a.t.Errorf("a Buffer of %d bytes has %q: %s", n, got, p)
			return
		}
	}
}

// scope takes pieces of a Scope, which must not overlap.
func (a *attacker) scope(p *bytePond, n int) {
	s := p.Scope()
	defer s.Close()
	var pieces [][]byte
	for i := range 1 + a.rng.IntN(6) {
		b := s.Get(n / (i + 1))
		for j := range b {
			b[j] = byte(i)
		}
		pieces = append(pieces, b)
	}
	for i, b := range pieces {
		if bytes.Count(b, []byte{byte(i)}) != len(b) {
			a.t.Errorf("pieces of a Scope overlap: %s", p)
		}
	}
}

func (a *attacker) useObjects() {
	p := a.round.objects[a.rng.IntN(objectPlaces)].Load()
	keep := func(v *object, err error) {
		if err != nil {
			a.allowed(err)
			return
		}
		who := int64(stamps.Add(1))
		p.own(a.round, v, who)
		a.objects = append(a.objects, heldObject{p, v, who})
	}
	a.safely(&p.upset, func() {
		switch what := a.rng.IntN(20); {
		case what < 6:
			keep(p.TryGet())
		case what < 12:
			ctx, cancel := a.context()
			defer cancel()
			keep(p.GetContext(ctx))
		case what == 12:
			p.Trim()
		case what == 13:
			if err := p.Prewarm(1 + a.rng.IntN(4)); err != nil {
				a.allowed(err)
			}
		case what == 14:
			p.Stats()
		case what == 15:
			p.Put(nil)
		case p.strict:
			keep(p.TryGet())
		default:
			keep(p.Get(), nil)
		}
	})
}

func (a *attacker) putObject() {
	o := a.objects[0]
	a.objects = a.objects[1:]
	o.pond.disown(a.round, o.v, o.who)
	a.safely(&o.pond.upset, func() { o.pond.Put(o.v) })
}
