package dewpond

import (
	"fmt"
	"math/bits"
	"reflect"
	"sync"
	"unsafe"
)

// A Scope hands out many pieces of memory that all end together, such as all that a
// request, a frame or a message needs until it is answered. Make one with
// [BytePool.Scope] and end it with [Scope.Close]:
//
//	s := pool.Scope()
//	defer s.Close()
//
// Small pieces are cut off chunks, which are blocks of the pool: the first has 8 KiB,
// each further one twice as much, up to 32 KiB. A piece larger than a quarter of the
// chunk is a block of its own. Nothing that a Scope hands out may be used after Close,
// because the memory may have another owner then. That includes everything that shares
// the memory: sub-slices, and strings made with package unsafe.
//
// A Scope must not be used by several goroutines at once, and must not be copied.
type Scope struct {
	_     noCopy
	pool  *BytePool    // nil once closed
	chunk []byte       // its length is what has been handed out of it, a multiple of alignment
	most  uint         // size of the largest piece that is cut off the chunk
	plain reflect.Type // the last T that Slice has found to hold no pointers

	// blocks has the other blocks, each as long as what was handed out of it. Most
	// requests need no more; further blocks are in more.
	blocks [8][]byte
	count  int
	more   [][]byte
}

const (
	alignment  = 8 // of each piece; no Go type needs more
	firstChunk = 8 << 10
	lastChunk  = 32 << 10
)

// Get returns a slice of n bytes that no other piece overlaps. It is valid until Close.
// Its cap is n, so that append moves the bytes to memory outside the Scope. The bytes
// are zero unless the pool's policy is [ZeroNever]. Get panics if n is negative or the
// Scope is closed.
func (s *Scope) Get(n int) []byte {
	at := len(s.chunk)
	if uint(n-1) >= s.most || n > cap(s.chunk)-at { // n-1: 0 bytes are a rare case
		return s.getSlow(n)
	}
	s.chunk = s.chunk[:at+(n+alignment-1)&^(alignment-1)]
	return s.chunk[at : at+n : at+n]
}

// TryGet is like [Scope.Get], but returns the error of [BytePool.TryGet] if the piece needs
// a block that the pool refuses. If the pool refuses a new chunk, TryGet asks for a block
// that is just large enough for the piece. After an error the Scope is as it was before.
func (s *Scope) TryGet(n int) ([]byte, error) {
	at := len(s.chunk)
	if uint(n-1) < s.most && n <= cap(s.chunk)-at {
		return s.Get(n), nil
	}
	if s.mustGet("TryGet", n) == 0 {
		return []byte{}, nil
	}
	if size, ok := s.nextChunk(n); ok {
		if chunk, err := s.pool.tryGetUncounted("TryGet", size); err == nil {
			s.pool.noteAsked(size)
			return s.begin(chunk, n), nil
		}
	}
	b, err := s.pool.TryGet(n)
	if err != nil {
		return nil, err
	}
	return s.own(b), nil
}

// getSlow is Get when the chunk has no room, or the piece must not be cut off a chunk.
func (s *Scope) getSlow(n int) []byte {
	if s.mustGet("Get", n) == 0 {
		return []byte{}
	}
	if size, ok := s.nextChunk(n); ok {
		return s.begin(s.pool.Get(size), n) // may panic, if the pool has an Allocator
	}
	return s.own(s.pool.Get(n))
}

// mustGet panics if the Scope is closed or n is negative, and otherwise returns n.
func (s *Scope) mustGet(method string, n int) int {
	switch {
	case s.pool == nil:
		panic(fmt.Sprintf("dewpond: %s(%d) on a Scope that was closed", method, n))
	case n < 0:
		panic(fmt.Sprintf("dewpond: %s(%d) on a Scope of pool %q: the size is negative", method, n, s.pool.name))
	}
	return n
}

// nextChunk returns the size of the next chunk, or false if a piece of n bytes is not to be
// cut off a chunk.
func (s *Scope) nextChunk(n int) (size int, ok bool) {
	size = max(firstChunk, min(2*cap(s.chunk), lastChunk))
	size = min(size, s.pool.classes.Largest())
	most := s.most
	if s.chunk == nil {
		most = uint(size) / 4
	}
	return size, uint(n) <= most
}

// begin begins a chunk, of which it returns the first n bytes.
func (s *Scope) begin(chunk []byte, n int) []byte {
	if s.chunk != nil {
		s.keep(s.chunk)
	}
	s.chunk, s.most = chunk[:0], uint(cap(chunk))/4
	return s.Get(n)
}

// own keeps a block for one piece, which it returns.
func (s *Scope) own(b []byte) []byte {
	s.keep(b)
	return b[:len(b):len(b)]
}

// keep has a block until Close.
func (s *Scope) keep(b []byte) {
	if s.count < len(s.blocks) {
		s.blocks[s.count] = b
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

// Close gives every block back to the pool. Nothing that the Scope has handed out may be
// used after that. [Scope.Get] after Close panics. A second Close does nothing.
func (s *Scope) Close() {
	p := s.pool
	if p == nil {
		return
	}
	s.pool = nil
	s.putAll(p)
}

// putAll puts all blocks back. If the Put of one panics, in an Allocator's Free or in a
// report, the others are still put back.
func (s *Scope) putAll(p *BytePool) {
	done := false
	defer func() {
		if !done {
			s.putAll(p)
		}
	}()
	for b := s.drop(); b != nil; b = s.drop() {
		p.putUsed(b)
	}
	s.more, done = nil, true
}

// drop removes a block from the Scope and returns it, or returns nil if there is none.
func (s *Scope) drop() (b []byte) {
	if s.chunk != nil {
		b, s.chunk = s.chunk, nil
	} else if last := len(s.more) - 1; last >= 0 {
		b, s.more = s.more[last], s.more[:last]
	} else if s.count > 0 {
		s.count--
		b, s.blocks[s.count] = s.blocks[s.count], nil
	}
	return b
}

// ScopeSlice returns a slice of n values of T that no other piece overlaps. It is valid until
// [Scope.Close], aligned as T needs, and has cap n. The values are zero whatever the
// pool's policy is. T must hold no pointers, because the garbage collector does not look
// into blocks. ScopeSlice panics if T is or holds a pointer, string, slice, map, func, channel
// or interface, if n is negative, if the size overflows, and if the Scope is closed.
func ScopeSlice[T any](s *Scope, n int) []T {
	t := reflect.TypeFor[T]()
	if s.plain != t {
		mustBePlain(t)
		s.plain = t
	}
	var zero T
	high, size := bits.Mul(uint(n), uint(unsafe.Sizeof(zero)))
	if n < 0 || high != 0 || int(size) < 0 {
		s.mustGet("ScopeSlice", 0)
		panic(fmt.Sprintf("dewpond: ScopeSlice of %d %v in a Scope of pool %q: the size is negative or overflows", n, t, s.pool.name))
	}
	b := s.Get(int(size))
	if size == 0 {
		return make([]T, n) // takes no memory
	}
	if s.pool.zero == ZeroNever {
		clear(b) // some types, such as bool, must not hold arbitrary bytes
	}
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
}

// plain holds the types that Slice has found to hold no pointers.
var plain sync.Map // of reflect.Type

// mustBePlain panics if t holds pointers. It inspects each type once.
func mustBePlain(t reflect.Type) {
	if _, ok := plain.Load(t); ok {
		return
	}
	if at := pointerIn(t); at != nil {
		panic(fmt.Sprintf("dewpond: Slice of %v: it holds pointers (%v), which the collector would not see in a Scope; use make", t, at))
	}
	plain.Store(t, nil)
}

// pointerIn returns a type in t that the collector has to follow, or nil.
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
