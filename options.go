package dewpond

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"time"

	"github.com/dewpond/dewpond/internal/sizeclass"
	"github.com/dewpond/dewpond/misuse"
)

// In the options of a pool 0 stands for the default, and -1 for none of it, by one of these
// names. Other negative numbers are errors.
const (
	// NoIdle, as MaxIdleBytes, MaxIdlePerClass or MaxIdle, makes a pool keep nothing idle:
	// every Get allocates.
	NoIdle = -1

	// NoDecay, as IdleTimeout, makes a pool keep what is idle forever, whatever the
	// pressure.
	NoDecay = -1
)

// defaultMaxIdleBytes is what MaxIdleBytes 0 means.
const defaultMaxIdleBytes = 64 << 20

// BytePoolOptions configure a [BytePool]. The zero value is a sane default.
type BytePoolOptions struct {
	// Name is the pool's name in statistics. A second live pool with the same
	// name reports as name-2. Default: "pool".
	Name string

	// Classes are the block sizes in bytes, which the caps of what Get returns are: strictly
	// ascending, from 64 B to 64 MiB, at most 128 of them. On the Go heap they may be any sizes,
	// such as 1232, 1452 and 65535. Go rounds each up to a size of its own (7168 to 8192), which is
	// what a block counts in MaxIdleBytes and in a Budget; two classes must not be rounded to one.
	// Default: [DefaultClasses].
	Classes []int

	// MaxIdleBytes bounds the bytes of idle blocks that the pool retains, over all classes. It holds
	// at every moment. Under contention a pool may refuse blocks before it retains as much, but not
	// before it retains half of it. [NoIdle]: none are retained. For instance, 16 << 20 retains
	// 10,922 blocks of 1536 bytes, or that many bytes of all sizes together.
	//
	// Blocks past the bound belong to the garbage collector, as in a [sync.Pool]: see NoSecondTier. A
	// full pool without an AllocRate gives way to the size that is put back: it moves idle blocks of
	// the size that needs them least there.
	//
	// Default: 64 MiB, or, if MaxIdlePerClass is not set either and more than that was in use
	// at one time within the last IdleTimeout (60 s for NoDecay), as much as idle and in use
	// together are that. What all pools of the process keep beyond their 64 MiB is at most a
	// quarter of the memory limit, and nothing while the pressure is above low.
	MaxIdleBytes int64

	// MaxIdlePerClass bounds the number of idle blocks that the pool retains in each class, in the same
	// way. [NoIdle]: none are retained. Default: only MaxIdleBytes bounds them.
	MaxIdlePerClass int

	// Budget bounds the bytes that all pools with this Budget have together, idle and
	// in use. TryGet, GetContext and GetBatch obey it. Get allocates even past it, and
	// counts [Stats.OverBudget]. Before a call is refused, idle blocks of any of the pools are
	// let go. A pool with a Budget takes back only what it has handed out.
	// Default: no limit.
	Budget *Budget

	// AllocRate is how many misses a second may allocate. What is not used is saved up,
	// for at most one second. TryGet, GetContext and GetBatch obey it. Get takes what is
	// left of it, allocates even past it, and counts [Stats.OverAllocRate]. In a
	// [testing/synctest] bubble the limit follows the bubble's clock, and starts anew in
	// each bubble. Default: no limit.
	AllocRate int

	// Memory is where blocks come from. With an Allocator each class must be a multiple of 16.
	// Package offheap makes pools on mapped memory. Default: the Go heap.
	Memory Allocator

	// Zero says when blocks are cleared. Default: [ZeroOnPut].
	Zero ZeroPolicy

	// Check says how closely the pool watches what its callers do with its blocks.
	// The environment variable DEWPOND_CHECK overrides it. Default: [CheckOff].
	Check CheckMode

	// OnViolation is called for each misuse that Check finds, and once for the leaks of
	// one place that are found together: see [misuse.Violation.Count]. It may be called
	// concurrently: by the method that finds the misuse, after its other work, by a
	// timer, or by a cleanup of the garbage collector, which it must not block. The pool
	// holds no lock meanwhile, so OnViolation may call any pool, including this one. If
	// it panics, the method that called it panics too; nothing is lost, for what Get
	// would have returned goes back to the pool. A panic in a timer or a cleanup ends
	// the program.
	//
	// Default: write the misuse to standard error, once for each pair of stacks, unless a
	// function is registered with [OnViolation]. A program that imports package checks has it
	// logged with log/slog instead: the default handler and a slog.TextHandler get the
	// stacks line by line, any other handler as attributes.
	OnViolation func(misuse.Violation)

	// LeakAfter is how long a block that Check watches may be out before it is reported
	// as a [misuse.Leak]. Without it a leak is found by a garbage collection or, off the heap,
	// by Close. The pool looks about 32 times in each IdleTimeout, until it is closed, so
	// IdleTimeout must not be NoDecay. A block that is put back after the report is
	// accepted. The reports are unreliable if several [testing/synctest] bubbles use the
	// pool at once. Without Check the option does nothing, and the log says so once.
	// Default: no limit.
	LeakAfter time.Duration

	// IdleTimeout is how long the pool keeps idle blocks that are not needed. It lets
	// go of blocks that were not needed at any moment of an IdleTimeout, the oldest
	// first, along a smooth curve over a second IdleTimeout. It does so four times as
	// fast under medium pressure, and at once under high pressure: see package pressure.
	//
	// The minimum is 100 ms. [NoDecay]: idle blocks are kept forever, whatever the
	// pressure. Default: 60 s.
	//
	// If decay has released a quarter of the heap and 16 MiB, and no GC cycle runs within some
	// seconds, it requests one, at most once in an IdleTimeout for all pools of the process: only
	// a cycle returns the memory to the operating system. [Stats.Collections] counts them, and
	// DEWPOND_COLLECT=off in the environment forbids them. What one costs:
	// https://github.com/dewpond/dewpond/blob/main/docs/tuning.md#memory-that-decay-lets-go.
	IdleTimeout time.Duration

	// NoSecondTier has the pool free the blocks that its bounds have no room for. Otherwise these belong to
	// the garbage collector, as in a [sync.Pool]: they are freed within two GC cycles, and a Get that
	// finds no idle block takes one of them until then ([Stats.Recovered]). So MaxIdleBytes and
	// MaxIdlePerClass bound what the pool retains, and no Get allocates what a sync.Pool would
	// still have. A pool that must free its blocks has no second tier: one with an Allocator, a
	// Budget, Check or [NoIdle]. DEWPOND_TIER=off in the environment turns it off in all pools.
	NoSecondTier bool
}

// SlicePoolOptions configure a [SlicePool]. The zero value is a sane default.
type SlicePoolOptions[T any] struct {
	// Name is the pool's name in statistics. A second live pool with the same
	// name reports as name-2. Default: "pool".
	Name string

	// Classes are the caps of the pooled slices, in elements: strictly ascending, at most
	// 128 of them, each of 32 B to 64 MiB. Elements of less than 16 bytes are pooled in
	// steps of 16 bytes: of two classes of float64, say, one has an even number more.
	// Go rounds what it allocates up to a size of its own; classes whose size it does not
	// allocate exactly take that much more memory than [Stats] says.
	// Default: as many elements as the [DefaultClasses] hold.
	Classes []int

	// Reset makes a slice that was put back ready for its next owner. It is called with
	// the whole slice, up to its cap, by the goroutine that puts it back. What it leaves in
	// the slice is what Get returns, and what an idle slice keeps alive. If it panics, the
	// pool does not have the slice. With Reset the option Zero must be ZeroOnPut.
	// Default: clear.
	Reset func([]T)

	// MaxIdleBytes bounds the bytes kept idle, over all classes, as
	// [BytePoolOptions.MaxIdleBytes] does: elements times the size of T, without what they
	// point to. The default is the same, too.
	MaxIdleBytes int64

	// MaxIdlePerClass bounds the number of slices kept idle in each class. [NoIdle]: none
	// are kept. Default: only MaxIdleBytes bounds them.
	MaxIdlePerClass int

	// Budget is the same as [BytePoolOptions.Budget]. Lost slices are found by finalizers. So
	// if a slice points to something that points back to it, and is lost, it is never
	// collected and stays charged forever.
	Budget *Budget

	// AllocRate is how many misses a second may allocate, as
	// [BytePoolOptions.AllocRate]. Default: no limit.
	AllocRate int

	// Zero says when slices of a T without pointers are cleared. With pointers it must be
	// ZeroOnPut. Default: [ZeroOnPut].
	Zero ZeroPolicy

	// Check is the same as [BytePoolOptions.Check]. An idle slice is not poisoned if T has
	// pointers or fields that goroutines share, if there is a Reset, or with ZeroNever. Then a
	// write to it is found if it changes the bytes of an element, without those fields: see
	// [CheckMode].
	Check CheckMode

	// OnViolation is the same as [BytePoolOptions.OnViolation]. Default: log the misuse.
	OnViolation func(misuse.Violation)

	// IdleTimeout is how long the pool keeps idle slices that are not needed: see
	// [BytePoolOptions.IdleTimeout]. The minimum is 100 ms. [NoDecay]: forever.
	// Default: 60 s.
	IdleTimeout time.Duration

	// NoSecondTier is the same as [BytePoolOptions.NoSecondTier].
	NoSecondTier bool
}

// PoolOptions configure a [Pool]. The zero value is a sane default.
type PoolOptions[T any] struct {
	// Name is the pool's name in statistics. A second live pool with the same
	// name reports as name-2. Default: "pool".
	Name string

	// New makes an object when none is idle. It is called by the goroutine that asks
	// for one, so it may be called concurrently. It must not return nil. If T is a
	// pointer, interface, channel or function, New must be set, because new(T) would
	// point to nil. Default: new(T).
	New func() *T

	// Reset makes an object that was put back ready for its next owner: nothing that
	// the last owner wrote may stay readable. Default: the Reset method of *T, if *T has
	// one without arguments and results; otherwise *v = *new(T), if New is not set. With New, which
	// makes what is no zero T, the default is to leave the object as it is: then each caller
	// resets it after Get, as with a sync.Pool, and reads what the last owner wrote until it does.
	//
	// Where making an object ready costs much, as for a gzip.Writer, which clears 800 KB, Reset
	// only drops what the object points to, and the caller does the rest after Get: the example of
	// a gzip.Writer shows it.
	//
	// Reset must be set in these cases: if the method is promoted from an embedded
	// field, because it leaves the other fields as they are; and, unless New is set, if T is a
	// slice or a map, because setting it to nil would lose the memory worth keeping, and if
	// T has more than 4 KiB, because clearing it on each Put would cost more than it is worth.
	Reset func(*T)

	// Keep reports whether the pool is to keep an object that was put back, for instance
	// a buffer that may have grown too large. It is called before Reset. An object that
	// it refuses is dropped. Default: keep all.
	Keep func(*T) bool

	// Drop is called once for each object that the pool lets go: one that Keep refuses
	// (before Reset), one that the pool has no room for, and idle objects that Trim,
	// Close or decay lets go. It is never called for an object in use. It is called by
	// the goroutine that called the pool, or by a timer, so it may be called
	// concurrently.
	//
	// Drop is not called for the objects of a pool that is collected without Close, for
	// an object whose Keep or Reset has panicked, or for the remaining objects of a Trim
	// when Drop panics. Default: leave the object to the garbage collector.
	Drop func(*T)

	// MaxIdle bounds the number of idle objects that the pool retains. It holds at every moment.
	// Under contention a pool may retain fewer, but at least half. Objects past the bound belong
	// to the garbage collector, as in a [sync.Pool]: see NoSecondTier. The pool does not know what
	// its objects point to: give a bound if that is much, and need not last until the next
	// burst (4096 idle gzip.Writers hold 3 GB). [NoIdle]: none are retained.
	//
	// Default: MaxOut, or without one 4096; or, if more than that were out at one time within
	// the last IdleTimeout (60 s for NoDecay), as many as idle and out together are that. What
	// all pools of the process keep beyond is bounded: see [BytePoolOptions.MaxIdleBytes].
	MaxIdle int

	// MaxOut is how many objects may be out at once. TryGet and GetContext obey it. Get
	// hands out an object even past it, and counts [Stats.OverMaxOut]. An object that is
	// never put back counts as out forever.
	//
	// A pool with a MaxOut is slower: it counts, and it makes no object while one is idle
	// anywhere. So TryGet and GetContext make no more than MaxOut objects, apart from
	// those that Prewarm makes and those that Drop has not finished with. Default: no
	// limit.
	MaxOut int

	// Check says how closely the pool watches what its callers do with its objects: it
	// can find a Put of an object that is idle, an object that is never put back, and an
	// object that changes while it is idle. The environment variable DEWPOND_CHECK
	// overrides it. Default: [CheckOff].
	//
	// An idle object has changed if the bytes of T are not what Reset left. The bytes
	// that T points to do not count, nor do fields that goroutines share, such as a
	// [sync.Mutex]: see [CheckMode]. If T has less than 16 bytes and no pointers, Go allocates
	// several objects in one block, and a leak is noticed only when all objects of the
	// block are unreachable. The objects that New makes must be Go memory, not memory
	// of C or mapped memory.
	Check CheckMode

	// OnViolation is the same as [BytePoolOptions.OnViolation].
	OnViolation func(misuse.Violation)

	// IdleTimeout is how long the pool keeps idle objects that are not needed: see
	// [BytePoolOptions.IdleTimeout]. The minimum is 100 ms. [NoDecay]: idle
	// objects are kept forever. Default: 60 s.
	IdleTimeout time.Duration

	// NoSecondTier is the same as [BytePoolOptions.NoSecondTier]. A pool with Drop has no second tier
	// either: Drop could not be called for what the garbage collector frees.
	NoSecondTier bool

	object objectOptions // set by package dewsync
}

// mostCleared is the size in bytes up to which a Pool clears its objects without being told to.
const mostCleared = 4 << 10

// leaveAsIs is the Reset of a Pool whose callers reset an object after Get.
func leaveAsIs[T any](*T) {}

// defaultMaxIdle is what MaxIdle 0 means.
const defaultMaxIdle = 4096

// withDefaults returns the options with every default in place, or one error
// that names each invalid option.
func (o PoolOptions[T]) withDefaults() (PoolOptions[T], error) {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Name == "" {
		o.Name = "pool"
	}
	t := reflect.TypeFor[T]()
	if t.Size() == 0 {
		fail("%v has size 0: all such objects are one, so there is nothing to pool", t)
	}
	mustHaveNew, mustHaveReset := needs(t)
	if mustHaveNew != "" && o.New == nil {
		fail("%v without New: Get would hand out pointers to nil: %s", t, mustHaveNew)
	}
	if o.Reset == nil {
		if field, ok := promotedReset(t); ok {
			fail("%v has a method Reset() only by its field %s, which leaves the other fields as they are: give Reset, a func(*%v) that resets all", t, field, t)
		} else if o.Reset = resetMethod[T](); o.Reset == nil && o.New != nil {
			o.Reset = leaveAsIs[T]
		} else if o.Reset == nil && mustHaveReset != "" {
			fail("%v without Reset: Put would set it to nil, and lose the memory that it has: %s", t, mustHaveReset)
		} else if o.Reset == nil && t.Size() > mostCleared {
			fail("%v has %d bytes, and each Put would clear them all: give Reset, a func(*%v) that clears what was written; or New, and reset an object after Get", t, t.Size(), t)
		}
	}
	if o.MaxIdle < NoIdle {
		fail("MaxIdle %d: give a number of objects, 0 for %d, or NoIdle", o.MaxIdle, defaultMaxIdle)
	}
	if err := o.Check.valid(); err != nil {
		errs = append(errs, err)
	}
	if o.MaxOut < 0 {
		fail("MaxOut %d: give a number of objects, or 0 for no limit", o.MaxOut)
	}
	o.IdleTimeout = idleTimeout(o.IdleTimeout, fail)
	if errs != nil {
		return o, fmt.Errorf("dewpond: options of pool %q: %w", o.Name, errors.Join(errs...))
	}
	return o, nil
}

// idle returns how many objects may be idle, and whether that follows what was out: see
// [PoolOptions.MaxIdle].
func (o PoolOptions[T]) idle() (objects int64, follows bool) {
	switch {
	case o.MaxIdle == NoIdle:
		return 0, false
	case o.MaxIdle > 0:
		return int64(o.MaxIdle), false
	case o.MaxOut > 0:
		return int64(o.MaxOut), true
	}
	return defaultMaxIdle, true
}

// needs returns advice for a T that needs a New, because the zero T is nil, and for a T
// that needs a Reset, because setting it to nil would lose what is worth pooling. The
// advice is empty if T does not need one.
func needs(t reflect.Type) (toHaveNew, toHaveReset string) {
	switch t.Kind() {
	case reflect.Pointer:
		return fmt.Sprintf("take a Pool[%v], whose Get returns a %v, or give New and Reset", t.Elem(), t), ""
	case reflect.Interface:
		return "take a Pool of the type that is in it, or give New and Reset", ""
	case reflect.Chan, reflect.Func, reflect.UnsafePointer:
		return "give New and Reset", ""
	case reflect.Slice:
		return "", fmt.Sprintf("give Reset, such as func(v *%v) { clear(*v); *v = (*v)[:0] }", t)
	case reflect.Map:
		return "", fmt.Sprintf("give Reset, such as func(v *%v) { clear(*v) }", t)
	}
	return "", ""
}

// promotedReset returns the embedded field from which t's Reset method is promoted, if t
// is a struct that has other fields too.
func promotedReset(t reflect.Type) (field string, ok bool) {
	m, has := reflect.PointerTo(t).MethodByName("Reset")
	if !has || t.Kind() != reflect.Struct {
		return "", false
	}
	named := 0
	for i := range t.NumField() {
		if t.Field(i).Name != "_" { // blank fields cannot be read
			named++
		}
	}
	if named < 2 {
		return "", false
	}
	// The compiler generates the methods that the struct does not declare itself.
	if file, _ := runtime.FuncForPC(m.Func.Pointer()).FileLine(m.Func.Pointer()); file != "<autogenerated>" {
		return "", false
	}
	for i := range t.NumField() {
		f := t.Field(i)
		for _, ft := range []reflect.Type{f.Type, reflect.PointerTo(f.Type)} {
			if _, has := ft.MethodByName("Reset"); f.Anonymous && has {
				return f.Name, true
			}
		}
	}
	return "", false
}

const (
	// defaultIdleTimeout is what IdleTimeout 0 means.
	defaultIdleTimeout = 60 * time.Second
	// minIdleTimeout keeps enough time between ticks: decay.Epochs of them divide it.
	minIdleTimeout = 100 * time.Millisecond
)

// idleTimeout returns an IdleTimeout with its default in place, or 0 if the pool never
// decays.
func idleTimeout(t time.Duration, fail func(format string, args ...any)) time.Duration {
	switch {
	case t == 0:
		return defaultIdleTimeout
	case t == NoDecay:
		return 0
	case t < minIdleTimeout:
		fail("IdleTimeout %v: give at least %v, 0 for %v, or NoDecay to keep what is idle", t, minIdleTimeout, defaultIdleTimeout)
	}
	return t
}

// resetMethod returns the method expression (*T).Reset, or nil if *T has no such method.
// If Put called it through an interface instead, each call would have to look it up.
func resetMethod[T any]() func(*T) {
	m, ok := reflect.TypeFor[*T]().MethodByName("Reset")
	if !ok {
		return nil
	}
	reset, _ := m.Func.Interface().(func(*T))
	return reset
}

// A ZeroPolicy says when a pool clears a block. It always clears the whole cap. For
// blocks of about 1 KiB or more, clearing costs more than the rest of Get and Put.
type ZeroPolicy uint8

const (
	// ZeroOnPut clears a block when it is put back: nothing that an owner wrote
	// stays readable in idle memory.
	ZeroOnPut ZeroPolicy = iota
	// ZeroOnGet clears a block when it is handed out again.
	ZeroOnGet
	// ZeroNever leaves the last owner's bytes in the block. It is for callers that
	// write every byte before they read it.
	ZeroNever
)

// String returns "zero on Put", "zero on Get" or "zero never".
func (z ZeroPolicy) String() string {
	switch z {
	case ZeroOnPut:
		return "zero on Put"
	case ZeroOnGet:
		return "zero on Get"
	case ZeroNever:
		return "zero never"
	}
	return fmt.Sprintf("ZeroPolicy(%d)", uint8(z))
}

// DefaultClasses returns the default of [BytePoolOptions.Classes]: sizes from 64 B to
// 1 MiB that Go allocates exactly, about four in each doubling.
func DefaultClasses() []int { return sizeclass.Default() }

// mayWait reports whether the pool's calls may wait, or be refused, by what bubbles keep apart. An
// Allocator is one for all of them.
func (o BytePoolOptions) mayWait() bool {
	return o.Memory == nil && (o.AllocRate > 0 || o.Budget != nil)
}

// in returns the options of the part of a pool in a bubble.
func (o BytePoolOptions) in(bubble uint64) BytePoolOptions {
	o.Budget = o.Budget.in(bubble)
	return o
}

// withDefaults returns the options of the pool of the slices' bytes, with every default in
// place, and whether T has pointers, or one error that names each invalid option.
func (o SlicePoolOptions[T]) withDefaults() (of BytePoolOptions, pointers bool, err error) {
	of = BytePoolOptions{
		Name: o.Name, MaxIdleBytes: o.MaxIdleBytes, MaxIdlePerClass: o.MaxIdlePerClass, Budget: o.Budget, AllocRate: o.AllocRate,
		Zero: o.Zero, Check: o.Check, OnViolation: o.OnViolation, IdleTimeout: o.IdleTimeout, NoSecondTier: o.NoSecondTier,
	}
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	t := reflect.TypeFor[T]()
	size, pointer := int(t.Size()), pointerIn(t)
	switch {
	case size == 0:
		fail("%v has size 0: there is nothing to pool", t)
	case size > sizeclass.MaxSize:
		fail("%v has %d bytes: a block has at most %d", t, size, sizeclass.MaxSize)
	case o.Classes == nil:
		o.Classes = sizeclass.DefaultElements(size)
		if o.Classes == nil {
			fail("%v has %d bytes, more than the default classes hold: give Classes", t, size)
		}
	default:
		for _, err := range sizeclass.CheckElements(o.Classes, size) {
			fail("in Classes: %w", err)
		}
	}
	for _, n := range o.Classes {
		of.Classes = append(of.Classes, n*size)
	}
	switch {
	case o.Zero == ZeroOnPut:
	case pointer != nil:
		fail("Zero %v: %v has pointers (%v), so it is cleared on Put, or else an idle slice would keep alive what it points to", o.Zero, t, pointer)
	case o.Reset != nil:
		fail("Zero %v with Reset: Put calls Reset instead of clearing; give one of the two", o.Zero)
	}
	of, err = of.checked(errs)
	return of, pointer != nil, err
}

// withDefaults returns the options with every default in place, or one error
// that names each invalid option.
func (o BytePoolOptions) withDefaults() (BytePoolOptions, error) {
	if o.Classes == nil {
		o.Classes = sizeclass.Default()
	}
	o.Classes = slices.Clone(o.Classes)
	var errs []error
	for _, err := range sizeclass.Check(o.Classes, o.Memory == nil) {
		errs = append(errs, fmt.Errorf("in Classes: %w", err))
	}
	return o.checked(errs)
}

// idle returns how many bytes may be idle, and whether that follows what was out: see
// [BytePoolOptions.MaxIdleBytes].
func (o BytePoolOptions) idle() (bytes int64, follows bool) {
	switch {
	case o.MaxIdleBytes == NoIdle, o.MaxIdlePerClass == NoIdle:
		return 0, false
	case o.MaxIdleBytes > 0:
		return o.MaxIdleBytes, false
	}
	return defaultMaxIdleBytes, o.MaxIdlePerClass == 0
}

// checked is withDefaults for the options but Classes. errs is what else is invalid.
func (o BytePoolOptions) checked(errs []error) (BytePoolOptions, error) {
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Name == "" {
		o.Name = "pool"
	}
	if o.MaxIdleBytes < NoIdle {
		fail("MaxIdleBytes %d: give a number of bytes, 0 for %d, or NoIdle", o.MaxIdleBytes, defaultMaxIdleBytes)
	}
	if o.MaxIdlePerClass < NoIdle {
		fail("MaxIdlePerClass %d: give a number of blocks, 0 to bound them by MaxIdleBytes alone, or NoIdle", o.MaxIdlePerClass)
	}
	if o.AllocRate < 0 {
		fail("AllocRate %d: give a number of misses a second, or 0 for no limit", o.AllocRate)
	}
	if o.Budget != nil && o.Budget.Limit() <= 0 {
		fail("Budget: make it with NewBudget")
	}
	if err := o.Check.valid(); err != nil {
		errs = append(errs, err)
	}
	switch {
	case o.LeakAfter < 0:
		fail("LeakAfter %v: give a time, or 0 to wait for a collection or for Close", o.LeakAfter)
	case o.LeakAfter > 0 && o.IdleTimeout == NoDecay:
		fail("LeakAfter %v with NoDecay: it is the same timer that looks; give an IdleTimeout", o.LeakAfter)
	}
	if o.Zero > ZeroNever {
		fail("Zero %d: give ZeroOnPut, ZeroOnGet or ZeroNever", o.Zero)
	}
	o.IdleTimeout = idleTimeout(o.IdleTimeout, fail)
	if errs != nil {
		return o, fmt.Errorf("dewpond: options of pool %q: %w", o.Name, errors.Join(errs...))
	}
	return o, nil
}

// An Allocator is where the blocks of a [BytePool] come from if they are not to come from the
// Go heap: see [BytePoolOptions.Memory]. A pool asks it for a block when none is idle, and
// gives it the blocks that it lets go of. For mapped memory there is package offheap; an
// Allocator is for memory of another kind, or for accounts of one's own. The function
// TestAllocator of package dewtest tests one.
//
// All methods may be called by any number of goroutines at once, and must not call a
// pool: some calls come with the lock of a [Budget] held.
//
// A block must stay valid until Free, also after [BytePool.Close]. A pool that is closed
// gives back all its blocks as they come; a pool that is dropped without Close, or a block
// that its owner loses, is never heard of again.
type Allocator interface {
	// Alloc returns a block, or an error that says why it has none.
	//
	// The block has length and cap size, which is one of the pool's classes. It begins
	// at a multiple of 16 bytes, all its bytes are zero, and it overlaps no other block
	// until Free takes it back. If the length, the cap or the address is wrong, the
	// method of the pool that asked for the block panics.
	//
	// TryGet, GetContext and Prewarm return the error, wrapped. Get and what is built on
	// it take a block of the Go heap instead, and count that in [OffHeapStats.Fallback].
	Alloc(size int) ([]byte, error)

	// Free takes back a block that Alloc returned, whole, with what its owners have left
	// in it. No goroutine uses it any more. If Free panics, the block counts as taken
	// back, and the method that let go of it panics after it has done everything else.
	Free(block []byte)

	// Owns reports whether b, whatever its length, begins where a block of this Allocator
	// begins and has that block's cap. A pool asks this of every slice with the cap of a
	// class that is put back, so Owns should be fast, and refuses those for which it
	// reports false. Of a block that Free has taken back it may report either.
	Owns(b []byte) bool
}
