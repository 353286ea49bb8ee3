package dewpond

import (
	"fmt"
	"math/bits"
	"reflect"
	"sync"
	"unsafe"

	"github.com/dewpond/dewpond/internal/sizeclass"
)

// A Scope hands out many pieces of memory that all end together: what a request,
// a frame or a message needs until it is answered. Make one with BytePool.Scope
// and end it with Close:
//
//	s := pool.Scope()
//	defer s.Close()
//
// Small pieces are cut off chunks, which are blocks of the pool: 8 KiB first, then
// twice as much each time up to 32 KiB. A piece larger than a quarter of the chunk
// is a block of its own. Nothing that a Scope hands out may be used after Close,
// for it is somebody else's memory then. That includes what was copied out of it
// without its bytes: sub-slices, and strings made by unsafe means.
//
// A Scope is not for use by several goroutines at once, and must not be copied.
type Scope struct {
	_     noCopy
	pool  *BytePool    // nil once closed
	chunk []byte       // what is handed out of it is its length, a multiple of alignment
	most  uint         // the largest piece that is cut off the chunk
	plain reflect.Type // the last T that Slice has found to hold no pointers

	// held are the other blocks, each as long as what was handed out of it. They
	// are all most requests need; further ones are in more.
	held  [8][]byte
	count int
	more  [][]byte
}

const (
	alignment  = 8 // of each piece; no Go type wants more
	firstChunk = 8 << 10
	lastChunk  = 32 << 10
)

// Scope returns a Scope on blocks of this pool, which takes none before the first
// piece. One that does not escape its caller costs no allocation, one that does
// costs one: the Scope itself is never pooled, so one that is closed stays closed.
func (p *BytePool) Scope() *Scope {
	return &Scope{pool: p.actual()} // a nil pool panics here
}

// Get returns n bytes that no other piece overlaps, valid until Close. Their cap is
// n, so that append moves to memory of its own. They are zero unless the pool's
// policy is ZeroNever. Get panics if n is negative or the Scope is closed.
func (s *Scope) Get(n int) []byte {
	at := len(s.chunk)
	if uint(n-1) >= s.most || n > cap(s.chunk)-at { // n-1: 0 bytes are a rare case
		return s.getSlow(n)
	}
	s.chunk = s.chunk[:at+(n+alignment-1)&^(alignment-1)]
	return s.chunk[at : at+n : at+n]
}

// getSlow is Get where the chunk has no room, or the piece is none of a chunk.
func (s *Scope) getSlow(n int) []byte {
	switch {
	case s.pool == nil:
		panic(fmt.Sprintf("dewpond: Get(%d) on a Scope that was closed", n))
	case n < 0:
		panic(fmt.Sprintf("dewpond: Get(%d) on a Scope of pool %q: the size is negative", n, s.pool.name))
	case n == 0:
		return []byte{}
	}
	size := max(firstChunk, min(2*cap(s.chunk), lastChunk))
	size = min(size, s.pool.classes.Largest())
	most := s.most
	if s.chunk == nil {
		most = uint(size) / 4
	}
	if uint(n) > most {
		b := s.pool.Get(n)
		s.hold(b)
		return b[:n:n]
	}
	chunk := s.pool.Get(size)[:0] // which may panic, where the pool has a Source
	if s.chunk != nil {
		s.hold(s.chunk)
	}
	s.chunk, s.most = chunk, uint(cap(chunk))/4
	return s.Get(n)
}

// hold keeps a block until Close.
func (s *Scope) hold(b []byte) {
	if s.count < len(s.held) {
		s.held[s.count] = b
		s.count++
	} else {
		s.more = append(s.more, b)
	}
}

// Copy returns a copy of b that is valid until Close.
func (s *Scope) Copy(b []byte) []byte {
	c := s.Get(len(b))
	copy(c, b)
	return c
}

// Close gives every block back. Nothing that the Scope has handed out may be used
// any more. Get after Close panics; a second Close does nothing.
func (s *Scope) Close() {
	p := s.pool
	if p == nil {
		return
	}
	s.pool = nil
	s.giveBack(p)
}

// giveBack puts all blocks back, also those after one whose Put panics, in a Source's Free or
// a report.
func (s *Scope) giveBack(p *BytePool) {
	done := false
	defer func() {
		if !done {
			s.giveBack(p)
		}
	}()
	for b := s.drop(); b != nil; b = s.drop() {
		p.putUsed(b)
	}
	s.more, done = nil, true
}

// drop returns a block that the scope has, and forgets it, or nil.
func (s *Scope) drop() (b []byte) {
	if s.chunk != nil {
		b, s.chunk = s.chunk, nil
	} else if last := len(s.more) - 1; last >= 0 {
		b, s.more = s.more[last], s.more[:last]
	} else if s.count > 0 {
		s.count--
		b, s.held[s.count] = s.held[s.count], nil
	}
	return b
}

// putUsed is Put for a block of which nobody could write beyond its length.
func (p *BytePool) putUsed(b []byte) {
	size := uint(cap(b))
	if p.onPut != clearBlock || size > sizeclass.MaxSmall || p.classes.Small(size).Size() != size {
		p.Put(b)
		return
	}
	clear(b)
	small, block := p.classes.Small(size), unsafe.Pointer(unsafe.SliceData(b))
	x := p.engine.Enter()
	slot := p.engine.Slot(x, small.Number())
	kept := slot.Give(block) || slot.GiveMore(block)
	x.Exit()
	if !kept {
		p.pushSmall(small, block)
	}
}

// Slice returns n values of T that no other piece overlaps, valid until Close,
// aligned as T needs, with cap n and all zero whatever the pool's policy. T must
// hold no pointers, for the collector does not look into blocks: Slice panics on a
// T that is or holds a pointer, string, slice, map, func, channel or interface, on
// a negative n, on one whose size overflows, and on a Scope that is closed.
func Slice[T any](s *Scope, n int) []T {
	t := reflect.TypeFor[T]()
	if s.plain != t {
		mustBePlain(t)
		s.plain = t
	}
	var zero T
	high, size := bits.Mul(uint(n), uint(unsafe.Sizeof(zero)))
	if n < 0 || high != 0 || int(size) < 0 {
		panic(fmt.Sprintf("dewpond: Slice of %d %v: the size is negative or overflows", n, t))
	}
	b := s.Get(int(size))
	if size == 0 {
		return make([]T, n) // takes no memory
	}
	if s.pool.zero == ZeroNever {
		clear(b) // not every T may hold any bytes: think of bool
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// plain holds the types that Slice has found to hold no pointers.
var plain sync.Map // of reflect.Type

// mustBePlain panics unless t holds no pointers. It looks at each type once.
func mustBePlain(t reflect.Type) {
	if _, ok := plain.Load(t); ok {
		return
	}
	if at := pointerIn(t); at != nil {
		panic(fmt.Sprintf("dewpond: Slice of %v: it holds pointers (%v), which the collector would not see in a Scope; use make", t, at))
	}
	plain.Store(t, nil)
}

// pointerIn returns a type in t that is a pointer to the collector, or nil.
func pointerIn(t reflect.Type) reflect.Type {
	switch t.Kind() {
	case reflect.Array:
		if t.Len() == 0 {
			return nil
		}
		return pointerIn(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			if at := pointerIn(t.Field(i).Type); at != nil {
				return at
			}
		}
		return nil
	case reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr,
		reflect.Float32, reflect.Float64, reflect.Complex64, reflect.Complex128:
		return nil
	}
	return t
}
