package dewpond

import (
	"errors"
	"fmt"
	"slices"

	"github.com/dewpond/dewpond/internal/memory"
	"github.com/dewpond/dewpond/internal/sizeclass"
)

// NoIdle as MaxIdleBytes keeps nothing idle: every Get allocates.
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

	// AllocLimit is how many misses a second may allocate, with at most one
	// second's worth saved up. TryGet and GetContext obey it; Get takes from it
	// what there is, allocates all the same, and counts OverLimit. 0: no limit.
	AllocLimit int

	// Memory is where blocks come from; nil is the Go heap. Packages of this
	// module set it.
	Memory memory.Source

	// Zero says when blocks are cleared. Default: ZeroOnPut.
	Zero ZeroPolicy
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
	if o.Zero > ZeroNever {
		fail("Zero %d: give ZeroOnPut, ZeroOnGet or ZeroNever", o.Zero)
	}
	if errs != nil {
		return o, fmt.Errorf("dewpond: options of pool %q: %w", o.Name, errors.Join(errs...))
	}
	return o, nil
}
