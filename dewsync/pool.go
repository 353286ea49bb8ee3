package dewsync

import (
	"sync"
	"sync/atomic"

	"github.com/dewpond/dewpond/internal/magazine"
)

// A Pool is a set of objects that may be put back and got again, as a [sync.Pool] is. It
// promises what a sync.Pool does:
//
//   - The zero Pool is ready to use, also from the initialization of package variables. A Pool
//     must not be copied after its first use; go vet finds copies.
//   - Any number of goroutines may call Get and Put at once. A Put of an object synchronizes
//     before the Get that returns it, and so does the New that made it.
//   - An object that is put back may be let go at any time. No Get need return it.
//
// Where a sync.Pool is empty after two garbage collections, a Pool keeps up to 4096 idle
// objects of each type, or as many as were out at once, through all of them, and releases what it did not need for a minute
// within the next one, also while it is in use, as a [dewpond.Pool] with the default options does. Idle objects are live heap: where an object has much memory, a
// [dewpond.Pool] with MaxIdle needs less.
//
// A Pool's first 63 calls are a sync.Pool's, and up to 1023 that come within 10 ms, so thousands of
// pools that are hardly used cost hardly more than as many of sync.Pool. With the next call that brings
// or makes an object the Pool begins to keep what is idle. In checked mode, in a bubble of [testing/synctest] and with DEWPOND_TIER=off it
// does so with the first.
//
// [dewpond.Pools] yields a Pool from then on. Its statistics count the calls before as well, all of
// them for the type of that object. Its name is where its New is, as "server/request.go:31", or if it
// has none, where it was used then. Objects of a second type are kept aside, in a pool of that name
// and the type's.
//
// With DEWPOND_CHECK, see [dewpond.CheckMode], double Puts of an object and writes after its
// Put are reported if it is put back as a pointer. An object that is never put back is no
// misuse, here as there. Fields that goroutines share, such as a [sync.Pool], and a [time.Timer]
// may change while an object is idle: [dewpond.CheckMode] lists them.
//
// An object is kept by the one word of its interface that points to it, so neither method
// allocates.
type Pool struct {
	// The fields that Get and Put read come first. Objects of the first type are kept in
	// engine. It is nil before the first one, if objects are checked, and if the layout of
	// interfaces is unknown.
	engine atomic.Pointer[magazine.Engine]
	typ    word // the first type; set before engine

	kinds atomic.Pointer[[]*kind] // of all types

	// mu is held while the name is found or a kind is made and in each call of a young Pool, and never while New runs.
	mu    sync.Mutex
	name  string
	young // what the Pool is before there is a kind

	// New makes an object where Get would otherwise return nil. It may be nil. It must not
	// change while Get runs, nor during the first 1024 Puts. It may call the pool's methods.
	New func() any
}

// Get returns an object that was put back, and that no other caller has. If it finds none,
// it returns what New does, or nil if there is no New. As with a [sync.Pool], callers should
// not assume any relation between what they put and what they get.
//
//go:nosplit
func (p *Pool) Get() any {
	if e := p.engine.Load(); e != nil {
		// engine.Pop, inlined by hand: a call would be a tenth of a Get and Put.
		x := e.Enter()
		data := e.Slot(x, magazine.OnlySlot).Take()
		x.Exit()
		if data != nil {
			return join(p.typ, data)
		}
	}
	return p.getSlow()
}

// getSlow is Get when the shard has no object.
func (p *Pool) getSlow() any {
	for _, k := range p.all() {
		if x, ok := k.idle(); ok {
			return x
		}
	}
	if len(p.all()) == 0 {
		if x := p.getYoung(); x != nil {
			return x
		}
	}
	if p.New == nil {
		p.missed()
		return nil
	}
	x := p.New()
	if !isNil(x) && (len(p.all()) > 0 || !p.missedYoung()) {
		p.kindOf(x).fresh(x)
	}
	return x
}

// Put gives an object back. The caller must no longer use it. Put ignores nil, and drops a
// nil pointer of any type.
func (p *Pool) Put(x any) {
	if e := p.engine.Load(); e != nil {
		if typ, data := split(x); typ == p.typ && data != nil {
			// engine.Push, inlined by hand.
			s := e.Enter()
			slot := e.Slot(s, magazine.OnlySlot)
			kept := slot.Give(data) || slot.GiveMore(data)
			s.Exit()
			if kept {
				return
			}
		}
	}
	if !isNil(x) && (len(p.all()) > 0 || !p.putYoung(x)) {
		p.kindOf(x).put(x)
	}
}

// all returns the kinds that there are.
func (p *Pool) all() []*kind {
	if kinds := p.kinds.Load(); kinds != nil {
		return *kinds
	}
	return nil
}

// kindOf returns where objects of the type of x are kept.
func (p *Pool) kindOf(x any) *kind {
	if k := find(p.all(), x); k != nil {
		return k
	}
	p.findName()
	k, first := p.makeKind(x)
	if first {
		p.grow(k)
	}
	return k
}

// makeKind makes the kind of x, unless another goroutine has, and reports whether it is the first.
func (p *Pool) makeKind(x any) (k *kind, first bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	kinds := p.all()
	if k := find(kinds, x); k != nil {
		return k, false
	}
	k = newKind(p.name, len(kinds), x, p.calls.Puts > 0)
	kinds = append(kinds[:len(kinds):len(kinds)], k)
	p.kinds.Store(&kinds)
	if len(kinds) > 1 {
		return k, false
	}
	if e := k.engine(); e != nil {
		p.typ = k.typ
		p.engine.Store(e)
	}
	return k, true
}
