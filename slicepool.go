package dewpond

import (
	"context"
	"fmt"
	"math"
	"reflect"
	"unsafe"

	"github.com/dewpond/dewpond/internal/check"
	"github.com/dewpond/dewpond/internal/magazine"
	"github.com/dewpond/dewpond/internal/registry"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// A SlicePool hands out slices of one type, by size class, and takes them back for reuse.
// It is a [BytePool] whose blocks are allocated as slices of T: what its options, its
// bounds and its statistics say holds for bytes, and sizes and classes are in elements.
// Make a pool with [NewSlicePool].
//
// A T without pointers is cleared as [SlicePoolOptions.Zero] says. A T with pointers is
// always cleared on Put, up to the slice's cap, so that an idle slice keeps nothing alive:
// by [SlicePoolOptions.Reset], if it is given. The blocks are on the Go heap.
//
// The zero SlicePool is also ready to use, for every T for which NewSlicePool accepts the
// zero [SlicePoolOptions]: from its first use it has the default options.
//
// A SlicePool must not be copied. All its methods may be called by any number of
// goroutines at once. A Put of a slice synchronizes before the Get that returns it.
//
// The caller of Get owns the slice until Put. After Put no caller may use it: a pool sees
// as little of what its callers do with it as a BytePool sees.
type SlicePool[T any] struct {
	// pool has the bytes of all slices. Its own Get and Put are never called: those of the
	// SlicePool do what they do, with sizes and clearing by T.
	pool BytePool

	onPut     sliceWork
	alignment uintptr // a slice begins where these bits of the address are 0

	standIn standIn[SlicePool[T]]
	parts   *apart[*SlicePool[T]] // nil but in the binary of a test
}

// A sliceWork says what Put does to a slice before the engine gets it. It sums up the
// pool's options, so that the fast path needs few comparisons.
type sliceWork uint8

const (
	askPool       sliceWork = iota // this is the zero SlicePool, or see tryClean
	keepSlice                      // as it is
	clearPlain                     // T has no pointers
	clearPointers                  // T has pointers
)

// NewSlicePool makes a pool. If options are invalid it returns one error that names each
// of them. A T of size 0 is invalid.
func NewSlicePool[T any](o SlicePoolOptions[T]) (*SlicePool[T], error) {
	of, pointers, err := o.withDefaults()
	if err != nil {
		return nil, err
	}
	p := new(SlicePool[T])
	entry := reserve(p, of.Name)
	if keepApart() && of.mayWait() {
		p.pool.entry, p.pool.name = entry, entry.Name()
		p.parts = new(apart[*SlicePool[T]])
		p.parts.begin(func(bubble uint64) *SlicePool[T] {
			part := new(SlicePool[T])
			part.init(o, of.in(bubble), pointers, entry)
			return part
		})
	} else {
		p.init(o, of, pointers, entry)
	}
	publish(entry)
	p.pool.armIfDue()
	return p, nil
}

// init makes a SlicePool of valid options, whose name is that of the entry. of are the options of
// its bytes, and pointers says that T has some.
func (p *SlicePool[T]) init(o SlicePoolOptions[T], of BytePoolOptions, pointers bool, entry *registry.Entry) {
	e := &elements{
		size:     int(unsafe.Sizeof(*new(T))),
		layout:   check.LayoutOf(reflect.TypeFor[T]()),
		pointers: pointers,
	}
	// No T with pointers is poison, nor is what Reset leaves; with ZeroNever the next owner would
	// see it, to whom it may be no T; and a goroutine of the caller's may use what is not watched.
	e.sealed = pointers || o.Reset != nil || o.Zero == ZeroNever || e.layout != nil
	e.make = func(n int) []byte { return wholeBytes(make([]T, n/e.size)) }
	switch {
	case o.Reset != nil:
		e.reset = func(b []byte) { o.Reset(sliceOf[T](b, len(b)/e.size)) }
	case pointers:
		e.reset = func(b []byte) { clear(sliceOf[T](b, len(b)/e.size)) }
	}
	p.pool.init(of, e, entry)
	if !pointers {
		p.alignment = uintptr(p.pool.alignment)
	}
	switch {
	case p.pool.onPut == keepAsIs:
		p.onPut = keepSlice
	case p.pool.onPut == clearBlock:
		p.onPut = clearPlain
	case p.pool.onPut == resetBlock && o.Reset == nil:
		p.onPut = clearPointers
	}
}

// MustSlicePool is like [NewSlicePool], but panics if the options are invalid. It
// simplifies the initialization of global variables.
func MustSlicePool[T any](o SlicePoolOptions[T]) *SlicePool[T] {
	p, err := NewSlicePool(o)
	if err != nil {
		panic(err)
	}
	return p
}

// Get returns a slice of n elements. Its cap is the smallest class that holds n elements.
// The elements are zero unless the policy is [ZeroNever], or as [SlicePoolOptions.Reset]
// leaves them. If n is larger than the largest class, Get allocates a slice that is not
// pooled. Get(0) returns an empty slice that is not nil, takes no block and is not counted.
// Get is never refused, as [BytePool.Get] is not. It panics if n is negative.
//
//go:nosplit
func (p *SlicePool[T]) Get(n int) []T {
	size := uint(unsafe.Sizeof(*new(T)))
	if uint(n) > sizeclass.MaxSmall/max(1, size) {
		return p.getSlow(n)
	}
	classes := p.pool.classes
	for classes == nil { // the zero SlicePool: its stand-in, if there is one yet, is as fast
		other := p.standIn.pool.Load()
		if other == nil {
			return p.getSlow(n)
		}
		p, classes = other, other.pool.classes
	}
	class := classes.OfSmall(uint(n) * size)
	x := p.pool.engine.Enter() // engine.Pop, inlined by hand (cost 333 of 80)
	slot := p.pool.engine.Slot(x, class.Slot())
	block := slot.Take()
	if block == nil {
		x.Exit()
		return p.getSlow(n)
	}
	if p.pool.onGet == keepAsIs {
		x.Exit()
		return sliceAt[T](block, n, int(class.Size()/max(1, size)))
	}
	number := slot.Hits()
	x.Exit()
	p.pool.prepare(block, class, number, n*int(size))
	return sliceAt[T](block, n, int(class.Size()/max(1, size)))
}

// getSlow is Get for a large size, or when the shard has no idle block.
func (p *SlicePool[T]) getSlow(n int) []T {
	p = p.actual()
	return sliceOf[T](p.pool.getMore(p.bytes("Get", n)), n)
}

// TryGet is like [SlicePool.Get], but returns an error where [BytePool.TryGet] does: one that wraps
// [ErrExhausted], one for a length that no memory holds, and after [SlicePool.Close] [ErrClosed].
func (p *SlicePool[T]) TryGet(n int) ([]T, error) {
	p = p.actual()
	size, err := p.tryBytes("TryGet", n)
	if err != nil {
		return nil, err
	}
	b, err := p.pool.TryGet(size)
	return sliceOf[T](b, n), err
}

// GetContext is like [SlicePool.TryGet], but instead of returning [ErrExhausted] it
// waits, as [BytePool.GetContext] does and in one line with the calls of that and of all
// other pools of the Budget.
func (p *SlicePool[T]) GetContext(ctx context.Context, n int) ([]T, error) {
	p = p.actual()
	size, err := p.tryBytes("GetContext", n)
	if err != nil {
		return nil, err
	}
	b, err := p.pool.GetContext(ctx, size)
	return sliceOf[T](b, n), err
}

// Put gives a slice back, whatever its length. The caller must no longer use it. Put
// ignores a slice of cap 0. It refuses, and counts in [Stats], what cannot be a slice of
// this pool:
//
//   - a slice whose cap is not a class, or that does not begin where Go allocates a slice
//     of T, as far as the address tells that (Dropped.Foreign);
//   - a slice whose cap is more than the largest class (Dropped.Oversize);
//   - in a pool with a [Budget], a slice that the pool has not handed out
//     (Dropped.Foreign).
//
// What Put drops, it drops as [BytePool.Put] does.
//
//go:nosplit
func (p *SlicePool[T]) Put(s []T) {
	size := uint(unsafe.Sizeof(*new(T)))
	if uint(cap(s)) > sizeclass.MaxSmall/max(1, size) {
		p.putSlow(s)
		return
	}
	classes := p.pool.classes
	for classes == nil { // see Get
		other := p.standIn.pool.Load()
		if other == nil {
			p.putSlow(s)
			return
		}
		p, classes = other, other.pool.classes
	}
	n := uint(cap(s)) * size
	class := classes.OfSmall(n)
	block := unsafe.Pointer(unsafe.SliceData(s))
	if class.Size()^n|uint(uintptr(block)&p.alignment) != 0 {
		p.putSlow(s)
		return
	}
	if p.onPut == clearPlain {
		clear(wholeBytes(s)) // for a T with pointers clear(s) is the call that clearLong avoids
	} else if p.onPut == clearPointers {
		if cap(s) > 24 || size > 128 {
			clearLong(s[:cap(s)])
		} else {
			clearShort(s[:cap(s)])
		}
	} else if p.onPut == askPool && !p.tryClean(s) {
		p.putSlow(s)
		return
	}
	x := p.pool.engine.Enter() // engine.Push, inlined by hand (cost 410 of 80)
	slot := p.pool.engine.Slot(x, class.Slot())
	if slot.Give(block) {
		x.Exit()
		return
	}
	kept := slot.GiveMore(block)
	x.Exit()
	if !kept {
		p.pool.overflow(class.Slot(), block)
	}
}

// clearLong is clear for elements with pointers. It is a call, because what clear calls
// for them needs more stack than a nosplit function has left in a build for a debugger.
//
//go:noinline
func clearLong[T any](s []T) { clear(s) }

// clearShort is clear for a few elements with pointers, without the two calls that the
// compiler makes for any number: these would take a fifth of a Get and Put of 128 bytes
// (BenchmarkSlicePool).
func clearShort[T any](s []T) {
	for ; len(s) >= 4; s = s[4:] {
		*(*[4]T)(s) = [4]T{}
	}
	for i := range s {
		*(*[1]T)(s[i:]) = [1]T{}
	}
}

// tryClean makes a slice ready for its next owner in a pool with a Reset or with
// CheckSampled. If it returns false the slice needs putSlow, and tryClean has not touched
// it. An empty slice is not Reset.
func (p *SlicePool[T]) tryClean(s []T) bool {
	b := wholeBytes(s)
	if len(b) == 0 || !p.pool.initialized || p.pool.onPut&(watchAll|askBudget) != 0 || p.pool.onPut&watchSome != 0 && check.Watched(addressOf(b)) {
		return false
	}
	p.pool.clean(b)
	return true
}

// putSlow is Put for large slices, slices of a pool with a Budget or that are watched, and
// slices that are not of this pool.
func (p *SlicePool[T]) putSlow(s []T) {
	if s == nil {
		return
	}
	b := wholeBytes(s)
	p.partFor(b).pool.putSlow(b)
}

// partFor returns the pool to which a slice goes that the caller puts back. A block of a Budget goes
// back where it came from.
func (p *SlicePool[T]) partFor(b []byte) *SlicePool[T] {
	here := p.actual()
	if p.parts != nil && !here.pool.knows(b) && p.parts.outside.pool.knows(b) {
		return p.parts.outside
	}
	return here
}

// Grow returns s with room for another n elements, as [slices.Grow] does. If s's cap is
// too small, Grow copies s's elements to a larger slice of this pool and puts s back. s
// may be nil. Grow panics if n is negative.
func (p *SlicePool[T]) Grow(s []T, n int) []T {
	if n < 0 || len(s)+n < 0 {
		panic(fmt.Sprintf("dewpond: Grow by %d elements from %d on pool %q: the size is negative or overflows", n, len(s), p.Name()))
	}
	if n <= cap(s)-len(s) {
		return s
	}
	return moved(p, s, append(p.Get(len(s) + n)[:0], s...))
}

// Append appends x to s, as the built-in append does. If s's cap is too small, Append
// copies s's elements to a larger slice of this pool and puts s back. s may be nil, and x
// may be part of s.
func (p *SlicePool[T]) Append(s []T, x ...T) []T {
	if len(x) <= cap(s)-len(s) {
		return append(s, x...)
	}
	pool := &p.actual().pool
	n := withRoom(s, len(x), pool.elements.count(pool.classes.Largest()))
	return moved(p, s, append(append(p.Get(n)[:0], s...), x...))
}

// Adopt is like [SlicePool.Put] for a slice that did not come from Get: one that append has
// moved out of the pool's slice, or one that somebody else has made. Its cap is cut to the
// largest class that fits, and the pool owns it from then on. What is said of
// [BytePool.Adopt] holds here too: s must be a whole slice that nobody else owns, what it has
// replaced stays in use until that is put back, and what is more than twice a class is refused.
func (p *SlicePool[T]) Adopt(s []T) {
	b := bytesOf(s)
	if part := p.partFor(b); cap(s) > 0 {
		part.pool.Adopt(b)
	}
}

// Bodies returns a [SliceBodyPool] on slices of this pool.
func (p *SlicePool[T]) Bodies() *SliceBodyPool[T] {
	return &SliceBodyPool[T]{p.actual().pool.Bodies()}
}

// Prewarm allocates count slices for Gets of n elements, as [BytePool.Prewarm] does.
func (p *SlicePool[T]) Prewarm(n, count int) error {
	p = p.actual()
	if p.overflows(n) {
		return fmt.Errorf("dewpond: Prewarm(%d, %d) on pool %q: the size overflows", n, count, p.Name())
	}
	return p.pool.Prewarm(p.bytes("Prewarm", n), count)
}

// Trim lets go of every slice that was idle when Trim was called and still is, as
// [BytePool.Trim] does, and returns how many bytes those slices have.
func (p *SlicePool[T]) Trim() (released int64) { return p.actual().pool.Trim() }

// Stats returns the pool's statistics. Bytes are the number of elements times the size of
// T, without what the elements point to, and without what Go adds to a slice whose size
// it does not allocate exactly. Stats takes microseconds and does not slow down other
// calls.
func (p *SlicePool[T]) Stats() Stats {
	if p.parts != nil {
		return p.parts.Stats()
	}
	return p.actual().pool.Stats()
}

// Close lets go of every idle slice. From then on the pool keeps nothing: Get allocates,
// TryGet, GetContext and Prewarm return [ErrClosed], and Put drops. Close ends all waits.
// Slices that are out stay valid. A second Close does nothing.
func (p *SlicePool[T]) Close() error {
	if p.parts != nil {
		return p.parts.Close()
	}
	return p.actual().pool.Close()
}

// Name returns the pool's name in statistics: the name in its options, followed by a
// number if an older live pool has that name.
func (p *SlicePool[T]) Name() string {
	if p.parts != nil {
		return p.pool.name
	}
	return p.actual().pool.Name()
}

func (p *SlicePool[T]) reportLeaks() int {
	if p.parts != nil {
		return p.parts.reportLeaks()
	}
	return p.actual().pool.reportLeaks()
}

func (p *SlicePool[T]) arm() { p.pool.arm() }

func (p *SlicePool[T]) appendEngines(all []*magazine.Engine) []*magazine.Engine {
	if p.parts != nil {
		return p.parts.appendEngines(all)
	}
	return p.pool.appendEngines(all)
}

// actual returns the pool that does the work: p itself, or its stand-in if p is the zero
// SlicePool, or the caller's part of it.
func (p *SlicePool[T]) actual() *SlicePool[T] {
	if p.pool.initialized {
		return p
	}
	return p.other()
}

//go:noinline
func (p *SlicePool[T]) other() *SlicePool[T] {
	if p.parts != nil {
		return p.parts.here()
	}
	if other := p.standIn.pool.Load(); other != nil {
		return other
	}
	return p.standIn.make(func() *SlicePool[T] { return MustSlicePool(SlicePoolOptions[T]{}) })
}

// bytes returns the size of n elements that a caller asks for.
func (p *SlicePool[T]) bytes(method string, n int) int {
	if n < 0 || p.overflows(n) {
		panic(fmt.Sprintf("dewpond: %s(%d) on pool %q: the size is negative or overflows", method, n, p.Name()))
	}
	return n * p.pool.elements.size
}

// tryBytes is bytes for a call that is refused a size that overflows.
func (p *SlicePool[T]) tryBytes(method string, n int) (size int, err error) {
	if p.overflows(n) {
		return 0, p.pool.answer(n, tooLong("%s(%d) on pool %q: the size overflows", method, n, p.Name()))
	}
	return p.bytes(method, n), nil
}

func (p *SlicePool[T]) overflows(n int) bool { return n > math.MaxInt/p.pool.elements.size }

// elements is what the blocks of a BytePool consist of that is a SlicePool's. A nil
// *elements says that they are bytes.
type elements struct {
	size     int                // of one, in bytes
	make     func(n int) []byte // makes n bytes of them, all zero
	reset    func(block []byte) // on Put; nil: as bytes
	sealed   bool               // an idle block is not poisoned
	pointers bool               // they have
	layout   *check.Layout      // which of their bytes checked mode watches; nil: all
}

// areSealed and havePointers are those fields; bytes are not, and have none.
func (e *elements) areSealed() bool { return e != nil && e.sealed }

func (e *elements) havePointers() bool { return e != nil && e.pointers }

func (e *elements) watched() *check.Layout {
	if e == nil {
		return nil
	}
	return e.layout
}

// count returns how many elements a number of bytes is, and text says so.
func (e *elements) count(bytes int) int {
	if e == nil {
		return bytes
	}
	return bytes / e.size
}

func (e *elements) text(bytes int) string {
	if e == nil {
		return fmt.Sprintf("%d bytes", bytes)
	}
	return fmt.Sprintf("%d elements", e.count(bytes))
}

// sliceAt returns the n first elements of a block that has as many as most. The caller
// ensures that n is not more; unsafe.Slice would also check that most is possible.
func sliceAt[T any](block unsafe.Pointer, n, most int) []T {
	s := struct {
		data     unsafe.Pointer
		len, cap int
	}{block, n, most}
	return *(*[]T)(unsafe.Pointer(&s))
}

// sliceOf and wholeBytes convert between a block, or nil, and the slice of its n first
// elements, whose cap tells the block. bytesOf is wholeBytes with the length of the slice.
func sliceOf[T any](b []byte, n int) []T {
	if b == nil {
		return nil
	}
	return sliceAt[T](unsafe.Pointer(unsafe.SliceData(b)), n, cap(b)/int(unsafe.Sizeof(*new(T))))
}

func wholeBytes[T any](s []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(cap(s))*unsafe.Sizeof(*new(T)))
}

func bytesOf[T any](s []T) []byte { return wholeBytes(s)[:uintptr(len(s))*unsafe.Sizeof(*new(T))] }

func (p *SlicePool[T]) ownChecks() []*checks {
	if p.parts != nil {
		return p.parts.ownChecks()
	}
	return p.pool.ownChecks()
}
