// Package sizeclass maps sizes to block sizes. It is pure: no clock, no unsafe, no state but
// the tables of [Shared] and the sizes that Go allocates.
package sizeclass

import "slices"

const (
	MinSize    = 64       // smallest class in bytes
	MaxSize    = 64 << 20 // largest class in bytes
	Multiple   = 16       // every class outside the Go heap is a multiple of this
	MaxClasses = 128      // most classes in one table

	// MaxSmall is the largest small size, in bytes: OfSmall looks up those, in steps of
	// Multiple.
	MaxSmall = 32 << 10

	// MaxLarge is the largest size, in bytes, that OfLarge looks up, in steps of
	// largeStep: the step of the Go heap's sizes above MaxSmall.
	MaxLarge  = 128 << 10
	largeStep = 8 << 10
)

// A Table finds the smallest class that holds n bytes. It is read-only once made, so it
// needs no locks. Make one with [New] or [Shared].
type Table struct {
	// small[(n+15)/16] is the class of n, up to MaxSmall: one load gives both the
	// slot and the size that Get and Put need, without a branch on the size. small[0]
	// is zero: no bytes need no block. A class that is no multiple of Multiple is also that
	// of the larger sizes in its step.
	small [MaxSmall/Multiple + 1]Class
	// large[(n+largeStep-1)/largeStep] is the class of n, up to MaxLarge, or of the sizes
	// in the step that are not larger than it. It is zero if more than one class is in the step.
	large   [MaxLarge/largeStep + 1]Class
	classes []int
}

// A Class is a class of at most MaxLarge bytes, packed into a word: the lower 14 bits are
// SlotSize times its index plus 1, the upper 18 bits its size in bytes. The zero Class is none.
// Larger classes have an index alone.
type Class uint32

// SlotSize is how many bytes a shard has for each class. A Class has the product with it, and not
// the index alone, so that the fast path need not multiply.
const SlotSize = 64

const slotBits = 14 // for SlotSize * MaxClasses

func class(index, size int) Class { return Class(size<<slotBits | (index+1)*SlotSize) }

// Slot returns where the slot of the class begins in a shard, in bytes: SlotSize times its
// index plus 1, or 0, where an empty slot is, if there is no class.
func (c Class) Slot() uintptr { return uintptr(c & (1<<slotBits - 1)) }

// Index returns the place of the class among all classes, from 0. There must be a class.
func (c Class) Index() uint8 { return IndexAt(c.Slot()) }

// IndexAt returns the index of the class whose slot begins at a place.
func IndexAt(slot uintptr) uint8 { return uint8(slot/SlotSize - 1) }

// Size returns the block size in bytes, or 0 if there is no class.
func (c Class) Size() uint { return uint(c >> slotBits) }

// New makes the lookup table for classes, which [Check] or [CheckElements] has approved.
// They need not be multiples of Multiple, but no two of them are in one step of the small
// table: the sizes that Go allocates are multiples.
func New(classes []int) (t Table) {
	t.classes = slices.Clone(classes)
	c := 0
	for i := 1; i < len(t.small); i++ {
		for c < t.LenSmall() && classes[c] <= (i-1)*Multiple {
			c++
		}
		if c < t.LenSmall() {
			t.small[i] = class(c, classes[c])
		}
	}
	for i := range t.large {
		top := i * largeStep
		c, _ := slices.BinarySearch(classes, top)
		below, _ := slices.BinarySearch(classes, top-largeStep+1)
		if below < len(classes) && c-below <= 1 && classes[below] <= MaxLarge {
			t.large[i] = class(below, classes[below])
		}
	}
	return t
}

// OfSmall returns the class of a size from 0 to MaxSmall, or one that is smaller than the size
// and in the same step: then Index knows. The caller checks the range, as the fast path has to
// do anyway.
func (t *Table) OfSmall(n uint) Class {
	return t.small[(n+Multiple-1)/Multiple]
}

// OfLarge returns the class of a size from MaxSmall+1 to MaxLarge, or one that is smaller, as OfSmall
// does. It may return zero although there is a class.
func (t *Table) OfLarge(n uint) Class {
	return t.large[(n+largeStep-1)/largeStep]
}

// Index returns the index of the class of any size and whether there is one. The class of 0
// is the smallest.
func (t *Table) Index(n int) (class uint8, ok bool) {
	i, _ := slices.BinarySearch(t.classes, n)
	return uint8(i), i < len(t.classes)
}

// Exact returns the index of the class whose size is exactly n, and whether there is one.
func (t *Table) Exact(n int) (class uint8, ok bool) {
	i, ok := slices.BinarySearch(t.classes, n)
	return uint8(i), ok
}

// Floor returns the index of the largest class of at most n bytes, and whether there is one.
func (t *Table) Floor(n int) (class uint8, ok bool) {
	i, exact := slices.BinarySearch(t.classes, n)
	if !exact {
		i--
	}
	return uint8(i), i >= 0
}

// Size returns the block size of the class with an index, in bytes.
func (t *Table) Size(class uint8) int { return t.classes[class] }

// Len returns the number of classes.
func (t *Table) Len() int { return len(t.classes) }

// LenSmall returns how many classes are at most MaxSmall bytes.
func (t *Table) LenSmall() int {
	i, _ := slices.BinarySearch(t.classes, MaxSmall+1)
	return i
}

// Largest returns the largest block size in bytes.
func (t *Table) Largest() int { return t.classes[len(t.classes)-1] }
