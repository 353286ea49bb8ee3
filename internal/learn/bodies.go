package learn

import (
	"math/rand/v2"
	"sync/atomic"

	"github.com/dewpond/dewpond/internal/sizeclass"
)

// A Bodies is the class that holds most bodies of one kind. It rises when bodies outgrow it
// and falls slowly, so that about one body in 16 outgrows it, or none where all have one size.
// That is the estimate of a quantile in one word, Frugal-1U, of Ma, Muthukrishnan and Sandler, "Frugal
// Streaming for Estimating Quantiles: One (or two) memory suffices" (https://arxiv.org/abs/1407.1121).
//
// A quantile counts bodies, and memory is bytes: where one body in 12 has 1 MiB and the others
// 200 bytes, a class of 1 MiB holds twelve times the bytes of all of them. So large bodies decide
// only where there are enough of them. The class falls quickly while most bodies fill less than an
// eighth of it, and up to three in a row that are more than eight times as large teach nothing.
type Bodies struct {
	classes *sizeclass.Table

	// learned has the class in bits 0-7, and above them how many bodies in a row have
	// outgrown theirs.
	learned atomic.Uint32
}

const (
	// slowly is how many bodies that a smaller class would have held make the size fall
	// by one class, on average. One body that outgrows it makes it rise by one. So it is
	// as likely to rise as to fall where one body in slowly+1 outgrows it.
	slowly = 15
	// quickly is how many of those that a class of a far-th would have held do so. A size
	// that one body in four needs, and the others far less, stays.
	quickly = 4
	// far is how many times larger a body of another order of magnitude is.
	far = 8
	// outliers is how many bodies in a row may be far larger than the size before it rises:
	// a step towards them would be no use to any body.
	outliers = 3
	// longestRun is after how many bodies in a row that outgrow it the size rises no
	// faster. Each of them doubles the step.
	longestRun = 6
)

// Spread is how many times the size of the class a block may have that is handed out.
const Spread = 2

// Init sets the classes, and the class to that for Least bytes.
func (b *Bodies) Init(classes *sizeclass.Table) {
	b.classes = classes
	b.learned.Store(uint32(b.class(Least)))
}

// class returns the class for n bytes, or the largest one.
func (b *Bodies) class(n int) uint8 {
	if class, ok := b.classes.Index(n); ok {
		return class
	}
	return uint8(b.classes.Len() - 1)
}

// Class returns the class that fits now.
func (b *Bodies) Class() uint8 { return uint8(b.learned.Load()) }

// Size returns the size of that class, in bytes.
func (b *Bodies) Size() int { return b.classes.Size(b.Class()) }

// Learn adapts the class to a body of n bytes. A body that comes while another goroutine
// adapts it teaches nothing, and neither does one of 0 bytes.
func (b *Bodies) Learn(n int) {
	was := b.learned.Load()
	class, run := uint8(was), was>>8
	size, next := b.classes.Size(class), uint32(class)
	switch {
	case n == 0:
		return
	case n > size:
		if run >= outliers || n/far <= size {
			next = min(next+1<<run, uint32(b.class(n)))
		}
		next |= min(run+1, longestRun) << 8
	case class > 0 && n <= b.classes.Size(class-1):
		bodies := slowly
		if n <= size/far && size > Least { // Least bytes are too few to be worth growing
			bodies = quickly
		}
		if rand.IntN(bodies) == 0 {
			next--
		}
	}
	if next != was {
		b.learned.CompareAndSwap(was, next)
	}
}

// LearnCap is Learn for a body of unknown length in size bytes. If that is more than any block that is handed out, append
// has moved the body there, from a block that was too small. Otherwise it may be the block that was handed out, and counts
// as one of half that size: the class falls slowly until bodies outgrow it. If each size counted as a length, the class would rise with every
// larger block that is idle, and never fall.
func (b *Bodies) LearnCap(size int) {
	if most := b.Size(); size <= Spread*most {
		size = most / 2
	}
	b.Learn(size)
}
