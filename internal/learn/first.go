package learn

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/dewpond/dewpond/internal/sizeclass"
)

// A First is the size in bytes of the block that the first write to a Buffer takes.
// It learns from the Buffers of its pool: it doubles if a Buffer outgrows such a block, and
// falls by a quarter if three quarters would have held what the Buffer had. For bodies of
// one size it comes to rest at most a class above it. For bodies of many sizes it comes to
// rest where some three Buffers in ten grow: a larger block would cost the others more to
// clear than it saves these.
type First struct {
	classes *sizeclass.Table
	bytes   atomic.Uint32 // always the size of a class
}

const (
	// Least is the smallest first block, where the classes have one of that size.
	// Growing to it from the smallest class adds 6 % to the time it takes to build a body
	// of 1.2 KB.
	Least = 512

	// learnOneIn says that one Buffer of so many is learned from, so that the others write
	// to no memory that all processors share.
	learnOneIn = 16
)

// Init sets the classes, and the size to that of the class for Least bytes.
func (f *First) Init(classes *sizeclass.Table) {
	f.classes = classes
	f.bytes.Store(f.fit(Least))
}

// fit returns the size of the class of n bytes.
func (f *First) fit(n int) uint32 {
	class, _ := f.classes.Index(min(n, f.classes.Largest()))
	return uint32(f.classes.Size(class))
}

// Size returns the size that a first block has now.
func (f *First) Size() int { return int(f.bytes.Load()) }

// Outgrown notes that a first block of had bytes was too small.
func (f *First) Outgrown(had int) { f.learn(had, 2*had) }

// Sufficed notes that a first block of had bytes had to hold no more than n.
func (f *First) Sufficed(n, had int) {
	if less := had - had/4; n <= less && had > Least {
		f.learn(had, less)
	}
}

// learn goes from one size to another, but not if others have gone elsewhere since this
// block was taken.
func (f *First) learn(from, to int) {
	if rand.Uint32N(learnOneIn) == 0 {
		f.bytes.CompareAndSwap(uint32(from), f.fit(max(to, Least)))
	}
}
