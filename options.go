package dewpond

import (
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"time"

	"github.com/dewpond/dewpond/internal/memory"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// NoIdle as MaxIdleBytes or MaxIdle keeps nothing idle: every Get allocates.
const NoIdle = -1

// defaultMaxIdleBytes is what MaxIdleBytes 0 means.
const defaultMaxIdleBytes = 64 << 20

// BytePoolOptions say how a BytePool behaves. The zero value is a sane default.
type BytePoolOptions struct {
	// Name is what the pool is called in statistics. A second live pool of a
	// name reports as name-2. Default: "pool".
	Name string

	// Classes are the block sizes in bytes: strictly ascending multiples of 16
	// from 64 B to 64 MiB, at most 128 of them, and each a size that Go
	// allocates exactly (7168 is not: Go rounds it up to 8192).
	// Default: DefaultClasses().
	Classes []int

	// MaxIdleBytes bounds the bytes kept idle, over all classes. 0 means
	// 64 MiB, NoIdle nothing. It holds at every moment; under contention a pool
	// may keep less, but at least half, before it drops what is put back.
	MaxIdleBytes int64

	// MaxIdlePerClass bounds the blocks kept idle in each class, as firmly.
	// 0: MaxIdleBytes alone bounds them.
	MaxIdlePerClass int

	// Budget bounds the bytes that this pool and all others with the same one have
	// together, idle and in use. TryGet and GetContext obey it; Get allocates all the
	// same and counts OverBudget. Idle blocks of any of the pools are let go before
	// anybody is refused. A pool with a Budget takes back only what it has handed out.
	// nil: no limit.
	Budget *Budget

	// AllocLimit is how many misses a second may allocate, with at most one
	// second's worth saved up. TryGet and GetContext obey it; Get takes from it
	// what there is, allocates all the same, and counts OverLimit. In a
	// testing/synctest bubble it counts by the bubble's clock, from the beginning in
	// each. 0: no limit.
	AllocLimit int

	// Memory is where blocks come from; nil is the Go heap. Packages of this
	// module set it.
	Memory memory.Source

	// Zero says when blocks are cleared. Default: ZeroOnPut.
	Zero ZeroPolicy

	// Check says how closely the pool watches what its callers do with its blocks.
	// The environment's DEWPOND_CHECK overrides it. Default: CheckOff.
	Check CheckMode

	// OnViolation is called for each misuse that Check finds, several at once, by the
	// method that finds it when it has done all else, by a timer, or by a cleanup of
	// the collector, which must not be kept waiting. It may call pools, this one too:
	// no lock is held. If it panics, so does the method, and nothing is lost by that:
	// what Get would have returned goes back to the pool. A panic in a timer or cleanup
	// ends the program. Default: log it by log/slog, each pair of stacks once, unless
	// the function OnViolation was called.
	OnViolation func(Violation)

	// LeakAfter is for how long a block that Check watches may be out before it is
	// reported as a Leak, where a collection would find it later or, off the heap,
	// Close. It is looked at about 32 times in an IdleTimeout, which it needs, until the
	// pool is closed; a block that comes back after all is taken. Of a pool that several
	// testing/synctest bubbles use at once it tells nothing true. Without Check it does
	// nothing, which the log says once. 0: for ever.
	LeakAfter time.Duration

	// IdleTimeout is for how long idle blocks are kept that nobody needs. Those
	// that were not needed at any moment of such a time are let go, the oldest
	// first, along a smooth curve over as long again; four times as fast under
	// medium pressure, and all at once under high (see Pressure). 0 means 60 s, a
	// negative time never, whatever the pressure; at least 100 ms.
	IdleTimeout time.Duration
}

// PoolOptions say how a Pool behaves. The zero value is a sane default.
type PoolOptions[T any] struct {
	// Name is what the pool is called in statistics. A second live pool of a
	// name reports as name-2. Default: "pool".
	Name string

	// New makes an object where none is idle. It is called by whoever asked for
	// one, several at once, and must not return nil. Default: new(T). It must be given
	// where T is a pointer, interface, channel or function: new(T) is nil then.
	New func() *T

	// Reset makes an object that comes back ready for its next owner: nothing of
	// the last one may stay readable. Default: the Reset method of *T where it has
	// one without arguments and results, else *v = *new(T). Where New is given
	// and *T has no such method, Reset must be given too: the zero T is not what
	// New makes. So must it where the method is only that of an embedded field, for
	// that leaves the other fields, and where T is a slice or map, of which nil would
	// keep nothing.
	Reset func(*T)

	// Keep is asked about each object that comes back, before Reset. One that it
	// refuses is dropped: a buffer that has grown too large. Default: keep all.
	Keep func(*T) bool

	// Drop is called once for each object that the pool lets go: one that Keep
	// refuses (before Reset), one that it has no room for, and by Trim, Close and
	// with time those that are idle. Never for one in use. It is called by whoever
	// called the pool, or by a timer, several at once. A pool that is collected
	// without Close drops nothing, nor does it drop an object whose Keep or Reset
	// has panicked, or what else a Trim lets go of when Drop panics. Default: the
	// collector has it.
	Drop func(*T)

	// MaxIdle bounds the objects kept idle. 0 means 4096, NoIdle none. It holds
	// at every moment; under contention a pool may keep less, but at least half.
	// The pool does not know what its objects point to: give fewer where they are
	// large (4096 idle gzip.Writers hold 3 GB).
	MaxIdle int

	// Limit is how many objects may be out at once. TryGet and GetContext obey
	// it; Get hands one out all the same and counts OverLimit. An object that is
	// never put back counts as out for ever. A limited pool is slower: it counts,
	// and makes no object while one is idle anywhere: Get and its like make no more
	// than Limit, but for what Prewarm makes and what Drop still has in hand. 0: no
	// limit.
	Limit int

	// Check says how closely the pool watches what its callers do with its objects:
	// a Put of one that is idle, one that was never put back, and one that has
	// changed while it was idle. The environment's DEWPOND_CHECK overrides it. Default:
	// CheckOff.
	//
	// The bytes of T count as changed when they are not what Reset left, those of
	// what they point to do not. So no T may change by itself, by a goroutine of its
	// own say. The collector notices a leak only with other objects that it has put
	// into one block where T has less than 16 bytes and no pointers. New's objects
	// must be Go memory, not C's or mapped.
	Check CheckMode

	// OnViolation is as in BytePoolOptions.
	OnViolation func(Violation)

	// IdleTimeout is for how long idle objects are kept that nobody needs: see
	// BytePoolOptions. 0 means 60 s, a negative time never; at least 100 ms.
	IdleTimeout time.Duration
}

// defaultMaxIdle is what MaxIdle 0 means.
const defaultMaxIdle = 4096

// withDefaults returns the options with every default in place, or one error
// that names each option that cannot be meant.
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
			fail("New without Reset, and *%v has no method Reset(): give Reset, a func(*%v) that makes an object as good as what New returns", t, t)
		} else if o.Reset == nil && mustHaveReset != "" {
			fail("%v without Reset: Put would set it to nil, and lose the memory that it has: %s", t, mustHaveReset)
		}
	}
	switch {
	case o.MaxIdle == 0:
		o.MaxIdle = defaultMaxIdle
	case o.MaxIdle == NoIdle:
		o.MaxIdle = 0
	case o.MaxIdle < 0:
		fail("MaxIdle %d: give a number of objects, 0 for %d, or NoIdle", o.MaxIdle, defaultMaxIdle)
	}
	if err := o.Check.valid(); err != nil {
		errs = append(errs, err)
	}
	if o.Limit < 0 {
		fail("Limit %d: give a number of objects, or 0 for no limit", o.Limit)
	}
	o.IdleTimeout = idleTimeout(o.IdleTimeout, fail)
	if errs != nil {
		return o, fmt.Errorf("dewpond: options of pool %q: %w", o.Name, errors.Join(errs...))
	}
	return o, nil
}

// needs says what to do where a T needs a New, since the zero T is nil, or a Reset, since
// all that is worth pooling would be lost with nil.
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

// promotedReset returns the embedded field whose Reset method is also that of a
// struct which has other fields.
func promotedReset(t reflect.Type) (field string, ok bool) {
	m, has := reflect.PointerTo(t).MethodByName("Reset")
	if !has || t.Kind() != reflect.Struct {
		return "", false
	}
	named := 0
	for i := range t.NumField() {
		if t.Field(i).Name != "_" { // nobody can read the others
			named++
		}
	}
	if named < 2 {
		return "", false
	}
	// A method that the struct does not declare itself is the compiler's.
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
	// minIdleTimeout keeps the ticks, of which there are decay.Epochs in it, apart.
	minIdleTimeout = 100 * time.Millisecond
)

// idleTimeout returns an IdleTimeout with its default in place, and 0 for never.
func idleTimeout(t time.Duration, fail func(format string, args ...any)) time.Duration {
	switch {
	case t == 0:
		return defaultIdleTimeout
	case t < 0:
		return 0
	case t < minIdleTimeout:
		fail("IdleTimeout %v: give at least %v, 0 for %v, or a negative time to keep what is idle", t, minIdleTimeout, defaultIdleTimeout)
	}
	return t
}

// resetMethod returns the method expression (*T).Reset, or nil where *T has no such
// method. Called through an interface it would have to be looked up in each Put.
func resetMethod[T any]() func(*T) {
	m, ok := reflect.TypeFor[*T]().MethodByName("Reset")
	if !ok {
		return nil
	}
	reset, _ := m.Func.Interface().(func(*T))
	return reset
}

// A ZeroPolicy says when a pool clears a block, always to its whole cap. Clearing
// costs more than the rest of Get and Put from about 1 KiB on.
type ZeroPolicy uint8

const (
	// ZeroOnPut clears when the block comes back: nothing that an owner wrote
	// stays readable in idle memory.
	ZeroOnPut ZeroPolicy = iota
	// ZeroOnGet clears when the block goes out again.
	ZeroOnGet
	// ZeroNever leaves the last owner's bytes in the block: for callers that
	// overwrite what they read.
	ZeroNever
)

// DefaultClasses returns the block sizes of a pool whose options name none: 58
// sizes that Go allocates exactly, 64 B to 1 MiB, about four in each doubling.
func DefaultClasses() []int { return sizeclass.Default() }

// withDefaults returns the options with every default in place, or one error
// that names each option that cannot be meant.
func (o BytePoolOptions) withDefaults() (BytePoolOptions, error) {
	var errs []error
	fail := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if o.Name == "" {
		o.Name = "pool"
	}
	if o.Classes == nil {
		o.Classes = sizeclass.Default()
	}
	o.Classes = slices.Clone(o.Classes)
	for _, err := range sizeclass.Check(o.Classes, o.Memory == nil) {
		errs = append(errs, fmt.Errorf("in Classes: %w", err))
	}
	switch {
	case o.MaxIdleBytes == 0:
		o.MaxIdleBytes = defaultMaxIdleBytes
	case o.MaxIdleBytes == NoIdle:
		o.MaxIdleBytes = 0
	case o.MaxIdleBytes < 0:
		fail("MaxIdleBytes %d: give a number of bytes, 0 for %d, or NoIdle", o.MaxIdleBytes, defaultMaxIdleBytes)
	}
	if o.MaxIdlePerClass < 0 {
		fail("MaxIdlePerClass %d: give a number of blocks, or 0 to bound them by MaxIdleBytes alone", o.MaxIdlePerClass)
	}
	if o.AllocLimit < 0 {
		fail("AllocLimit %d: give a number of misses a second, or 0 for no limit", o.AllocLimit)
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
	case o.LeakAfter > 0 && o.IdleTimeout < 0:
		fail("LeakAfter %v with a negative IdleTimeout: it is the same timer that looks; give one", o.LeakAfter)
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
